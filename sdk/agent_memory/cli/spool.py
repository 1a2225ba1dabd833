"""Lists in reverse order: lists begin with the newest, exports with the oldest."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any

from agent_memory.cli.text import render_json_line


class Spool:
    """Documents that are read from the last to the first. A temporary file holds them, so that any
    number fits; no other user can open it.
    """

    def __init__(self, documents: Iterable[Mapping[str, Any]]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - it is read as long as this lives
        self._ends = array("Q", [0])
        for document in documents:
            line = render_json_line(document).encode()
            self._file.write(line)
            self._ends.append(self._ends[-1] + len(line))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in reversed(range(len(self))):
            self._file.seek(self._ends[number])
            yield json.loads(self._file.read(self._ends[number + 1] - self._ends[number]))

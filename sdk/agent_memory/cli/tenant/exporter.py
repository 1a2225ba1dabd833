"""`export DIR`: everything of a tenant that the given keys may read, a file for each subject.

A file is written completely or not at all, so an interrupted export continues with the next file
when it is run again. The last file, `manifest.json`, marks the export as complete.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.private_files import replace_private
from agent_memory.cli.progress import Progress
from agent_memory.cli.tenant.documents import FORMAT, MANIFEST
from agent_memory.cli.tenant.reader import Read, TenantReader
from agent_memory.cli.text import render_json_line


class TenantExport:
    """One run of an export.

    Args:
        reader: reads the tenant.
        folder: the folder to write.
    """

    def __init__(self, reader: TenantReader, folder: Path) -> None:
        self._reader = reader
        self._folder = folder
        self._counts: dict[str, int] = {}

    def run(self) -> dict[str, int]:
        """Write missing files; return the number of documents of each.

        Raises:
            UsageFailure: the folder can't be written, or has a complete export.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if (self._folder / MANIFEST).exists():
                raise UsageFailure(f"{self._folder} has a complete export; name another folder")
            for name, read in self._reader.list_subjects():
                self._write(name, read)
            manifest = {"format": FORMAT, "files": self._counts}
            replace_private(self._folder / MANIFEST, [render_json_line(manifest)])
        except OSError as error:
            raise UsageFailure(f"can't write {self._folder}: {error.strerror}") from error
        return self._counts

    def _write(self, name: str, read: Read) -> None:
        file = self._folder / f"{name}.jsonl"
        if not file.exists():
            with Progress(f"export {name}") as progress:
                replace_private(file, _render_lines(read(), progress))
        with file.open("rb") as opened:
            self._counts[name] = sum(1 for _ in opened)


def _render_lines(documents: Iterable[Mapping[str, Any]], progress: Progress) -> Iterator[str]:
    for count, document in enumerate(documents, 1):
        progress.reached(count, None)
        yield render_json_line(document)

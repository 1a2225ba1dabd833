"""Files that only their owner may read, written completely or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_replacement(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file of mode 0600 that replaces `path` when it is complete."""
    descriptor, new = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            yield opened
            opened.flush()
            os.fsync(descriptor)
        Path(new).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(new).unlink()
        raise


def replace_private(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, and replace the earlier one."""
    with open_replacement(path) as opened:
        for line in lines:
            opened.write(f"{line}\n".encode())

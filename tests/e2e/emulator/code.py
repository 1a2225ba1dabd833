"""A function's code is unpacked once; each process that runs it has a link to it."""

import zipfile
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from types import SimpleNamespace
from typing import Any

from ministack.core import lambda_runtime

_Content = tuple[tuple[str, int], ...]  # names of files and their checksums

_unpacked: dict[_Content, str] = {}
_lock = Lock()


class _Archive(zipfile.ZipFile):
    """An archive whose files are only read, as those of a function are in Lambda."""

    def extractall(self, path: Any = None, *_: Any) -> None:
        """Put a link to the unpacked files in the place of an empty folder."""
        content = tuple((each.filename, each.CRC) for each in self.infolist())
        with _lock:
            if content not in _unpacked:
                folder = mkdtemp(prefix="code-")
                super().extractall(folder)
                _unpacked[content] = folder
        Path(path).rmdir()
        Path(path).symlink_to(_unpacked[content])


def mend() -> None:
    """The emulator unpacks 40 MB for each process, most of its work."""
    names = vars(zipfile) | {"ZipFile": _Archive}
    lambda_runtime.zipfile = SimpleNamespace(**names)

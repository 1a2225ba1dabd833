"""The data folder: one server uses it at a time, and only its owner may read the secrets."""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from functions.local.settings import StartupError


class DataFolder:
    """The folder of one server; `open_data_folder` creates it.

    Attributes:
        database: the embedded engine's file.
        journal: the file of the simulated database, which replaces a missing engine.
        engine_log: the embedded engine's output since its last start.
        archive: the folder of archives and large objects.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database, self.journal = path / "memory.db", path / "journal.db"
        self.engine_log, self.archive = path / "engine.log", path / "archive"

    def secret(self, name: str, make: Callable[[], str]) -> str:
        """Return the text of a secret's file (mode 0600), and create the file if it doesn't exist.

        The file is synced to disk first: data that this secret encrypts must not exist without it.
        """
        file = self.path / name
        try:
            if not file.exists():
                self.write(name, make())
            text = file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StartupError(f"{file} can't be used: {error}") from error
        if not text:
            raise StartupError(
                f"{file} is empty; restore it, or remove it if no data depends on it"
            )
        return text

    def write(self, name: str, text: str) -> None:
        """Write a file atomically, and sync it to disk."""
        descriptor, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{name}.")
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).rename(self.path / name)
        _sync_folder(self.path)

    def read(self, name: str) -> str | None:
        """Return a file's text; None if it doesn't exist."""
        file = self.path / name
        return file.read_text(encoding="ascii") if file.exists() else None


@contextmanager
def open_data_folder(path: Path) -> Iterator[DataFolder]:
    """Create the folder if needed (mode 0700) and lock it against other servers."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartupError(
            f"the data folder {path} can't be used ({error.strerror}); "
            "choose another with AGENT_MEMORY_DATA"
        ) from error
    try:
        _lock(descriptor, path)
        yield DataFolder(path)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StartupError(
            f"another server is using the data folder {path}; "
            "stop it, or choose another with AGENT_MEMORY_DATA"
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

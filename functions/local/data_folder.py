"""The data folder: one server at a time, secrets that only their owner reads."""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from functions.local.failure import CannotServe


class DataFolder:
    """A folder that this process alone serves; made with `opened`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def database(self) -> Path:
        """The embedded engine's database file."""
        return self.path / "memory.db"

    @property
    def engine_log(self) -> Path:
        """What the embedded engine printed since its last start."""
        return self.path / "engine.log"

    def secret(self, name: str, make: Callable[[], str]) -> str:
        """The text of a secret's file (mode 0600), which is made first if it isn't there.

        It is on disk before this returns: what it encrypts must never outlive it.

        Raises:
            CannotServe: the file can't be read or written, or is empty.
        """
        file = self.path / name
        try:
            if not file.exists():
                _write_atomically(file, make())
            text = file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise CannotServe(f"{file} can't be used: {error}") from error
        if not text:
            raise CannotServe(f"{file} is empty; restore it, or remove it if nothing depends on it")
        return text

    def keep(self, name: str, text: str) -> None:
        """Puts a text in a file's place: whole and on disk, or not at all."""
        _write_atomically(self.path / name, text)

    def kept(self, name: str) -> str | None:
        """A file's text; None if it isn't there."""
        file = self.path / name
        return file.read_text(encoding="ascii") if file.exists() else None


@contextmanager
def opened(path: Path) -> Iterator[DataFolder]:
    """Makes the folder if needed (mode 0700) and keeps other servers out of it.

    Raises:
        CannotServe: another server has it, or it can't be made or written.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotServe(
            f"the data folder {path} can't be used ({error.strerror}); "
            "AGENT_MEMORY_DATA names another"
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
        raise CannotServe(
            f"another server is using the data folder {path}; "
            "stop it, or choose another with AGENT_MEMORY_DATA"
        ) from error


def _write_atomically(file: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    Path(temporary).rename(file)
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

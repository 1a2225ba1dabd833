"""Text files in directories, as objects of the service."""

import posixpath
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file below a directory: its relative path, and its size in bytes."""

    path: str
    size: int


class MemoryFiles:
    """Files by paths such as `notes/tea.md`; the empty path is the root, which always exists.

    A file is an object. A directory exists while it has files. If it becomes empty, an object whose
    key ends with a slash marks it.

    Args:
        prefix: of the keys of all files; it ends with a slash.
    """

    def __init__(self, storage: ObjectStorage, prefix: str) -> None:
        self._storage = storage
        self._prefix = prefix

    def read(self, path: str) -> str | None:
        """Return a file's text; None if there is no file."""
        found = self._storage.get(self._prefix + path) if path else None
        return None if found is None else found.data.decode()

    def create(self, path: str, text: str) -> None:
        """Create a file, and its directories.

        Raises:
            FileExistsError: a file or a directory has the path.
            NotADirectoryError: a part of the path is a file.
        """
        self._assert_parents(path)
        if self.is_directory(path):
            raise FileExistsError(path)
        try:
            self._storage.put(self._prefix + path, text.encode(), only_new=True)
        except MemoryConflictError as taken:
            raise FileExistsError(path) from taken

    def update(self, path: str, fn: Callable[[str], str]) -> str:
        """Replace a file's text by `fn(text)` without losing others' changes; return the new text.

        Raises:
            FileNotFoundError: there is no file.
            IsADirectoryError: it is a directory.
        """
        while True:
            found = self._storage.get(self._prefix + path) if path else None
            if found is None:
                raise (IsADirectoryError if self.is_directory(path) else FileNotFoundError)(path)
            text = fn(found.data.decode())
            try:
                self._storage.put(self._prefix + path, text.encode(), version=found.version)
            except (MemoryConflictError, MemoryNotFoundError):
                continue  # another writer was faster
            return text

    def delete(self, path: str) -> None:
        """Delete a file, or a directory with all its files.

        Raises:
            FileNotFoundError: there is neither.
        """
        is_directory = self._assert_exists(path) == "directory"
        self._keep_parent(path)
        if is_directory:
            self._storage.delete_all(f"{self._prefix}{path}/")
        else:
            self._storage.delete([self._prefix + path])

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file, or a directory with all its files, file by file.

        Raises:
            FileExistsError: the new path exists.
            FileNotFoundError: the old path does not exist.
            NotADirectoryError: a part of the new path is a file.
            ValueError: raised when a directory would be moved into itself.
        """
        if self.exists(new_path):
            raise FileExistsError(new_path)
        self._assert_parents(new_path)
        try:
            kind = self._assert_exists(path)
        except FileNotFoundError:
            self._keep_parent(new_path)
            raise
        if new_path.startswith(f"{path}/"):
            raise ValueError(f"{path} can't be moved into itself")
        self._keep_parent(path)
        with _as_file_errors():
            if kind == "file":
                self._storage.rename(self._prefix + path, self._prefix + new_path)
            else:
                self._rename_directory(f"{self._prefix}{path}/", f"{self._prefix}{new_path}/")

    def clear(self) -> None:
        """Delete everything."""
        self._storage.delete_all(self._prefix)

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or a directory."""
        return self.is_file(path) or self.is_directory(path)

    def is_file(self, path: str) -> bool:
        """Tell whether there is a file."""
        return bool(path) and self._prefix + path in self._storage.get_many([self._prefix + path])

    def is_directory(self, path: str) -> bool:
        """Tell whether there is a directory."""
        below = self._storage.list_keys(self._to_directory(path), 1)
        return not path or next(below, None) is not None

    def list(self, path: str) -> Iterator[ListedFile]:
        """Yield the files below a directory; marked directories end with a slash."""
        start = self._to_directory(path)
        for each in self._storage.list(start, _PAGE):
            key = str(each["key"])
            if key != start:
                yield ListedFile(key.removeprefix(start), int(each["size"]))

    def _to_directory(self, path: str) -> str:
        return f"{self._prefix}{path}/" if path else self._prefix

    def _assert_exists(self, path: str) -> str:
        if self.is_file(path):
            return "file"
        if self.is_directory(path):
            return "directory"
        raise FileNotFoundError(path)

    def _assert_parents(self, path: str) -> None:
        """Raise if a part of the path is a file."""
        parents = []
        while path := posixpath.dirname(path):
            parents.append(self._prefix + path)
        if parents and (files := self._storage.get_many(parents)):
            raise NotADirectoryError(min(files).removeprefix(self._prefix))

    def _keep_parent(self, path: str) -> None:
        """Mark the path's directory, so that it stays when it is empty."""
        parent = posixpath.dirname(path)
        if parent:
            self._storage.put(f"{self._prefix}{parent}/", b"")

    def _rename_directory(self, start: str, new_start: str) -> None:
        for key in [*self._storage.list_keys(start, _PAGE)]:
            self._storage.rename(key, new_start + key.removeprefix(start))


@contextmanager
def _as_file_errors() -> Iterator[None]:
    try:
        yield
    except MemoryConflictError as taken:
        raise FileExistsError(str(taken)) from taken
    except MemoryNotFoundError as gone:
        raise FileNotFoundError(str(gone)) from gone

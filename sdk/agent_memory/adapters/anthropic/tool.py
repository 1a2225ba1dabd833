"""Claude's memory tool: its commands on files in the service."""

import posixpath
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand as CreateCommand,
)
from anthropic.types.beta import (
    BetaMemoryTool20250818DeleteCommand as DeleteCommand,
)
from anthropic.types.beta import (
    BetaMemoryTool20250818InsertCommand as InsertCommand,
)
from anthropic.types.beta import (
    BetaMemoryTool20250818RenameCommand as RenameCommand,
)
from anthropic.types.beta import (
    BetaMemoryTool20250818StrReplaceCommand as StrReplaceCommand,
)
from anthropic.types.beta import (
    BetaMemoryTool20250818ViewCommand as ViewCommand,
)

from agent_memory import AsyncClient, Client
from agent_memory.adapters.anthropic.files import MemoryFiles
from agent_memory.adapters.anthropic.rendering import render_directory, render_file, render_lines
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.conversion import to_sync
from agent_memory.exceptions import (
    MemoryAccessError,
    MemoryCapacityError,
    TooLargeError,
    ValidationError,
)
from agent_memory.model import Sensitivity

_ROOT = "/memories"
_REFUSALS = (MemoryAccessError, MemoryCapacityError, TooLargeError, ValidationError)


class AgentMemoryTool(BetaAbstractMemoryTool):  # type: ignore[misc]
    """The memory tool `memory_20250818`: Claude's files, kept in the service.

    Its results are those of the SDK's own tool on local files. Concurrent edits of one file are all
    kept. The files belong to the principal. Any thread may use it.

    Args:
        client: calls as the principal; stays open.
        root: the root of the files, such as one for each of your users.
        sensitivity: `confidential` or `restricted` to store the files encrypted.
        cache_control: as for any tool of the SDK.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        root: str = "memories",
        sensitivity: Sensitivity | None = None,
        *,
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        storage = ObjectStorage(to_sync(client), "claude-memory", None, sensitivity)
        self._files = MemoryFiles(storage, f"{quote(root, safe='')}/")

    def view(self, command: ViewCommand) -> str:
        """Return a file's numbered lines, or the files of a directory, two levels deep.

        Raises:
            ToolError: there is neither.
        """
        path = _to_path(command.path)
        with _as_tool_errors():
            text = self._files.read(path)
            if text is not None:
                return render_file(command, text)
            if not self._files.is_directory(path):
                raise ToolError(_there_is_no(command.path))
            return render_directory(command.path, [*self._files.list(path)])

    def create(self, command: CreateCommand) -> str:
        """Store a new file.

        Raises:
            ToolError: the path exists.
        """
        path = _to_path(command.path)
        with _as_tool_errors():
            try:
                if not path:
                    raise FileExistsError
                self._files.create(path, command.file_text)
            except FileExistsError as taken:
                raise ToolError(f"File {command.path} already exists") from taken
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: StrReplaceCommand) -> str:
        """Replace a text that occurs once in the file.

        Raises:
            ToolError: there is no such file, or the text does not occur exactly once.
        """
        changed = 0

        def replace(text: str) -> str:
            nonlocal changed
            _assert_once(text, command)
            changed = text[: text.find(command.old_str)].count("\n")
            return text.replace(command.old_str, command.new_str)

        lines = self._update(command.path, replace).split("\n")
        start = max(0, changed - 2)
        snippet = render_lines(lines[start : changed + 3], start + 1)
        edited = "The memory file has been edited. Here is the snippet showing the change"
        return f"{edited} (with line numbers):\n{snippet}"

    def insert(self, command: InsertCommand) -> str:
        """Insert a text after a line; 0: at the top.

        Raises:
            ToolError: there is no such file or line.
        """

        def insert(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            joined = "\n".join(lines)
            return joined if joined.endswith("\n") else f"{joined}\n"

        self._update(command.path, insert)
        return f"The file {command.path} has been edited."

    def delete(self, command: DeleteCommand) -> str:
        """Delete a file, or a directory with all its files.

        Raises:
            ToolError: there is neither, or it is the root.
        """
        path = _to_path(command.path)
        if not path:
            raise ToolError(f"Cannot delete the {_ROOT} directory itself")
        with _as_tool_errors():
            try:
                self._files.delete(path)
            except FileNotFoundError as missing:
                raise ToolError(f"The path {command.path} does not exist") from missing
        return f"Successfully deleted {command.path}"

    def rename(self, command: RenameCommand) -> str:
        """Rename a file or a directory.

        Raises:
            ToolError: the old path does not exist, or the new one does.
        """
        path, new_path = _to_path(command.old_path), _to_path(command.new_path)
        if not path:
            raise ToolError(f"Cannot rename the {_ROOT} directory itself")
        with _as_tool_errors():
            try:
                self._files.rename(path, new_path)
            except FileExistsError as taken:
                raise ToolError(f"The destination {command.new_path} already exists") from taken
            except FileNotFoundError as missing:
                raise ToolError(f"The path {command.old_path} does not exist") from missing
            except ValueError as refused:
                raise ToolError(f"Cannot rename {command.old_path} into itself") from refused
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete all files of the root."""
        self._files.clear()
        return "All memory cleared"

    def _update(self, path: str, fn: Callable[[str], str]) -> str:
        with _as_tool_errors():
            try:
                return self._files.update(_to_path(path), fn)
            except FileNotFoundError as missing:
                raise ToolError(_there_is_no(path)) from missing
            except IsADirectoryError as wrong:
                raise ToolError(f"The path {path} is not a file.") from wrong


def _to_path(path: str) -> str:
    """Return a path from the root on, without `..`; empty: the root.

    Raises:
        ToolError: it isn't below the root.
    """
    if not path.startswith(_ROOT):
        raise ToolError(f"Path must start with {_ROOT}, got: {path}")
    if "\0" in path:
        raise ToolError("A path holds no NUL character")
    below = path.removeprefix(_ROOT).lstrip("/")
    top, _, rest = posixpath.normpath(f"memories/{below}").partition("/")
    if top != "memories":
        raise ToolError(f"Path {path} would escape {_ROOT} directory")
    return rest


def _there_is_no(path: str) -> str:
    return f"The path {path} does not exist. Please provide a valid path."


def _assert_once(text: str, command: StrReplaceCommand) -> None:
    wanted = f"old_str `{command.old_str}`"
    count = text.count(command.old_str)
    if count == 0:
        raise ToolError(
            f"No replacement was performed, {wanted} did not appear verbatim in {command.path}."
        )
    if count > 1:
        lines = ", ".join(str(text[:at].count("\n") + 1) for at in _find_all(text, command.old_str))
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of {wanted} in lines: {lines}. "
            "Please ensure it is unique"
        )


def _find_all(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at != -1:
        yield at
        at = text.find(wanted, at + 1)


@contextmanager
def _as_tool_errors() -> Iterator[None]:
    """Convert errors that Claude can correct; others are raised to the program."""
    try:
        yield
    except NotADirectoryError as wrong:
        raise ToolError(f"The path {_ROOT}/{wrong} is not a directory.") from wrong
    except _REFUSALS as refused:
        raise ToolError(str(refused)) from refused

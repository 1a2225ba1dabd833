"""Render files and directories for Claude, in the exact words of the SDK's own tool."""

from collections.abc import Sequence

from anthropic.lib.tools import ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818ViewCommand as ViewCommand,
)

from agent_memory.adapters.anthropic.files import ListedFile

_MOST_LINES = 999_999
_WIDTH = len(str(_MOST_LINES))
_DEPTH = 2
_DIRECTORY_SIZE = "4K"  # the size of a directory in file systems


def render_file(command: ViewCommand, text: str) -> str:
    """Render the lines of a file, or of a range, with their numbers.

    Raises:
        ToolError: it has too many lines.
    """
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of {_MOST_LINES:,} lines.")
    start = 0
    if command.view_range and len(command.view_range) == 2:
        first, last = command.view_range
        start = max(1, first) - 1
        lines = lines[start : len(lines) if last == -1 else last]
    shown = render_lines(lines, start + 1)
    return f"Here's the content of {command.path} with line numbers:\n{shown}"


def render_lines(lines: Sequence[str], first: int) -> str:
    """Render lines with their numbers, from `first` on."""
    return "\n".join(f"{at:>{_WIDTH}}\t{line}" for at, line in enumerate(lines, first))


def render_directory(path: str, files: Sequence[ListedFile]) -> str:
    """Render the files of a directory, two levels deep, with sizes."""
    head = f"Here're the files and directories up to {_DEPTH} levels deep in {path}"
    shown = [f"{_DIRECTORY_SIZE}\t{path}"]
    shown += [
        f"{size}\t{path}/{name}" for name, size in sorted(_list_items(files).items(), key=_by_names)
    ]
    return "\n".join([f"{head}, excluding hidden items:", *shown])


def _list_items(files: Sequence[ListedFile]) -> dict[str, str]:
    """List the shown files of a directory with sizes; names of directories end with a slash."""
    items: dict[str, str] = {}
    for file in files:
        *directories, name = file.path.split("/")
        for depth in range(1, min(len(directories), _DEPTH) + 1):
            items["/".join(directories[:depth]) + "/"] = _DIRECTORY_SIZE
        if name and len(directories) < _DEPTH:
            items[file.path] = _render_size(file.size)
    return {path: size for path, size in items.items() if not _is_hidden(path)}


def _is_hidden(path: str) -> bool:
    return any(name.startswith(".") for name in path.split("/"))


def _by_names(item: tuple[str, str]) -> list[str]:
    return item[0].rstrip("/").split("/")


def _render_size(size: int) -> str:
    power = min(max(size.bit_length() - 1, 0) // 10, 3)
    number = size / 1024**power
    return f"{int(number) if number == int(number) else format(number, '.1f')}{'BKMG'[power]}"

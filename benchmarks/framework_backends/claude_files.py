"""Claude's memory tool: files on this machine and in the service."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_memory.adapters.anthropic import AgentMemoryTool
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818ViewCommand,
)

from benchmarks.framework_backends.measuring import Figures, agent_client, make_folder, measure


class _Files:
    """Messages are files; the read views the directory."""

    def __init__(self, tool: Any) -> None:
        self._tool = tool
        self._create("notes", "")

    def _create(self, name: str, text: str) -> None:
        self._tool.create(
            BetaMemoryTool20250818CreateCommand(
                command="create", path=f"/memories/{name}", file_text=text
            )
        )

    def _view(self, path: str) -> str:
        command = BetaMemoryTool20250818ViewCommand(command="view", path=path)
        return str(self._tool.view(command))

    def append(self, number: int, text: str) -> None:
        self._create(f"m{number}", text)

    def read(self) -> int:
        return self._view("/memories").count("/memories/m")

    def change_at_once(self, writer: int) -> bool:
        """Each inserts a line into the same file."""
        command = BetaMemoryTool20250818InsertCommand(
            command="insert", path="/memories/notes", insert_line=0, insert_text=f"writer-{writer}"
        )
        self._tool.insert(command)
        return True

    def count_changes(self) -> int:
        return self._view("/memories/notes").count("writer-")


def run(folder: Path, _s3: str) -> Iterator[Figures]:
    """Measure all."""

    def make_local(name: str) -> _Files:
        files = make_folder(folder, f"claude-{name}")
        return _Files(BetaLocalFilesystemMemoryTool(str(files)))

    yield measure("BetaLocalFilesystemMemoryTool", make_local)
    with agent_client() as (client, requests):
        yield measure(
            "AgentMemoryTool",
            lambda name: _Files(AgentMemoryTool(client, root=name)),
            requests,
        )

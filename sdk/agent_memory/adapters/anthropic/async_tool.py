"""Claude's memory tool for async clients."""

import asyncio
from typing import Any

from anthropic.tools.memory import BetaAsyncAbstractMemoryTool
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
from agent_memory.adapters.anthropic.tool import AgentMemoryTool
from agent_memory.model import Sensitivity


class AsyncAgentMemoryTool(BetaAsyncAbstractMemoryTool):  # type: ignore[misc]
    """The memory tool for async clients, in any event loop: calls run in threads.

    Args:
        client, root, sensitivity, cache_control: as for `AgentMemoryTool`.
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
        self._tool = AgentMemoryTool(client, root, sensitivity)

    async def view(self, command: ViewCommand) -> str:
        """View as `AgentMemoryTool.view` does."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: CreateCommand) -> str:
        """Create as `AgentMemoryTool.create` does."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: StrReplaceCommand) -> str:
        """Replace as `AgentMemoryTool.str_replace` does."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: InsertCommand) -> str:
        """Insert as `AgentMemoryTool.insert` does."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: DeleteCommand) -> str:
        """Delete as `AgentMemoryTool.delete` does."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: RenameCommand) -> str:
        """Rename as `AgentMemoryTool.rename` does."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete all files of the root."""
        return await asyncio.to_thread(self._tool.clear_all_memory)

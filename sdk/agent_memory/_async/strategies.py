"""`client.strategies`: strategies that learn from conversations."""

from typing import Any, Unpack

from agent_memory._async.pages import AsyncPages
from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import Strategy, StrategyStatus
from agent_memory.model.literals import StrategyKind
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import parse

_STRATEGIES = "/api/v1/strategies"


class AsyncStrategies(AsyncResource):
    """The strategies of the caller's tenant."""

    async def put(
        self,
        name: str,
        kind: StrategyKind,
        *,
        instructions: str | None = None,
        namespace: str | None = None,
        model: str | None = None,
        messages: int | None = None,
        idle: str | None = None,
        enabled: bool = True,
        version: int | None = None,
    ) -> Strategy:
        """Create or replace a strategy. Repeating it changes nothing.

            client.strategies.put("facts", "facts", messages=10, idle="PT5M")

        Args:
            instructions: a text for the model: what to look for.
            namespace: a template of the namespace for entries, such as `users/{user_id}/memory`.
            model: a model of the deployment; by default, its first one.
            messages: the number of new messages after which a conversation is read.
            idle: the time after its last message when it is read, as an ISO 8601 duration.
            enabled: False stops the strategy.
            version: change only this version.

        Raises:
            MemoryConflictError: it has another version.
            PermissionDeniedError: you lack `memory.admin`.
        """
        trigger = drop_none(messages=messages, idle=idle)
        body: dict[str, Any] = {"kind": kind, "enabled": enabled}
        body |= drop_none(
            instructions=instructions, namespace=namespace, model=model, trigger=trigger or None
        )
        answer = await self._call("PUT", _strategy(name), json=body, version=version)
        return parse(Strategy.from_document, answer)

    async def get(self, name: str) -> Strategy | None:
        """Return a strategy; None if there is none.

        client.strategies.get("facts").version
        """
        try:
            found = await self._call("GET", _strategy(name))
        except MemoryNotFoundError:
            return None
        return parse(Strategy.from_document, found)

    async def get_status(self, name: str) -> StrategyStatus:
        """Return the progress of a strategy and the number of waiting conversations.

            client.strategies.get_status("facts").waiting

        Raises:
            MemoryNotFoundError: there is no such strategy.
        """
        answer = await self._call("GET", f"{_strategy(name)}/status")
        return parse(StrategyStatus.from_document, answer)

    async def delete(self, name: str, *, version: int | None = None) -> bool:
        """Delete a strategy; return True if it existed. Learned memory stays.

            client.strategies.delete("facts")

        Raises:
            MemoryConflictError: it has another version.
        """
        return await self._delete(_strategy(name), version)

    def list(self, **paging: Unpack[Paging]) -> AsyncPages[Strategy]:
        """Return all strategies, by their names.

            [each.name for each in client.strategies.list()]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list(_STRATEGIES, "strategies", Strategy.from_document, paging)


def _strategy(name: str) -> str:
    return f"{_STRATEGIES}/{quote_segment(name)}"

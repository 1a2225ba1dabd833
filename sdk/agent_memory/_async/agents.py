"""`client.agents`: agents' settings, and what bounds them."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.model import Agent, AgentSettings
from agent_memory.requests import UNSET, Unset, drop_unset, quote_segment, to_list
from agent_memory.responses import parse

_List = list[Agent]


class AsyncAgents(AsyncResource):
    """The agents of the caller's tenant."""

    async def list(self) -> _List:
        """Return the agents that the caller may know of, with what they hold and their room."""
        found = self._list("/api/v1/agents", "agents")
        return [parse(Agent.from_document, document) async for document in found]

    async def settings(self, agent_id: str) -> AgentSettings:
        """Return what bounds an agent's memory."""
        return parse(AgentSettings.from_document, await self._call("GET", _config(agent_id)))

    async def configure(
        self,
        agent_id: str,
        *,
        capacity: int | Unset = UNSET,
        pinned_namespaces: Iterable[str] | Unset = UNSET,
        max_entries: int | Unset = UNSET,
        max_total_size_kb: int | Unset = UNSET,
    ) -> AgentSettings:
        """Set what bounds an agent's memory; needs `memory.admin`. What isn't given stays.

            client.agents.configure("biller", capacity=5_000, max_entries=500)

        Args:
            capacity: how many episodic entries it may hold.
            pinned_namespaces: new episodic entries in these are pinned.
            max_entries: how many working entries outside of tasks it may hold.
            max_total_size_kb: their size together, in units of 1,024 bytes.
        """
        pinned = pinned_namespaces if pinned_namespaces is UNSET else to_list(pinned_namespaces)
        episodic = drop_unset(capacity=capacity, pinned_namespaces=pinned)
        working = drop_unset(max_entries=max_entries, max_total_size_kb=max_total_size_kb)
        body = {"episodic": episodic, "working": working}
        given = {name: settings for name, settings in body.items() if settings}
        answer = await self._call("PATCH", _config(agent_id), json=given)
        return parse(AgentSettings.from_document, answer)

    async def summary(self, agent_id: str) -> dict[str, Any]:
        """Return what an agent holds, in figures (RFC-0015 "Agent Memory Summary")."""
        return await self._client.memory.summary(agent_id)

    async def eviction_order(self, agent_id: str) -> AsyncIterator[dict[str, Any]]:
        """Return an agent's episodic entries in the order in which they are evicted, as documents.

        They come without values, with `last_accessed_at`, a page at a time. It is for the agent
        itself, and for who coordinates an open task of it; for others there are none.
        """
        path = f"/api/v1/agents/{quote_segment(agent_id)}/memory/eviction"
        async for each in self._list(path, "entries"):
            yield each

    async def guardrails(self, coordinator_id: str) -> dict[str, Any]:
        """Return a coordinator's guardrails (RFC-0015 §6.6); needs `memory.admin`."""
        return await self._call("GET", _guardrails(coordinator_id))

    async def set_guardrails(
        self, coordinator_id: str, guardrails: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Change those that are given; None takes one away. Needs `memory.admin`."""
        body = {"guardrails": dict(guardrails)}
        return await self._call("PATCH", _guardrails(coordinator_id), json=body)


def _config(agent_id: str) -> str:
    return f"/api/v1/agents/{quote_segment(agent_id)}/memory/config"


def _guardrails(coordinator_id: str) -> str:
    return f"/api/v1/coordinators/{quote_segment(coordinator_id)}/guardrails"

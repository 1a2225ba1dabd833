"""`client.agents`: agents' settings, and what bounds them (contract §4, §5)."""

from collections.abc import Iterable, Mapping
from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.requests import drop_none, quote_segment, to_list


class AsyncAgents(AsyncResource):
    """The agents of the caller's tenant."""

    async def configure(
        self,
        agent_id: str,
        *,
        capacity: int | None = None,
        pinned_namespaces: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """Set an agent's episodic capacity and pinned namespaces; needs `memory.admin`."""
        pinned = to_list(pinned_namespaces)
        body = {"episodic": drop_none(capacity=capacity, pinned_namespaces=pinned)}
        path = f"/api/v1/agents/{quote_segment(agent_id)}/memory/config"
        return await self._call("PATCH", path, json=body)

    async def summary(self, agent_id: str) -> dict[str, Any]:
        """Return what an agent holds, in figures (RFC-0015 "Agent Memory Summary")."""
        return await self._client.memory.summary(agent_id)

    async def guardrails(self, coordinator_id: str) -> dict[str, Any]:
        """Return a coordinator's guardrails (RFC-0015 §6.6); needs `memory.admin`."""
        return await self._call("GET", _guardrails(coordinator_id))

    async def set_guardrails(
        self, coordinator_id: str, guardrails: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Change those that are given; None takes one away. Needs `memory.admin`."""
        body = {"guardrails": dict(guardrails)}
        return await self._call("PATCH", _guardrails(coordinator_id), json=body)


def _guardrails(coordinator_id: str) -> str:
    return f"/api/v1/coordinators/{quote_segment(coordinator_id)}/guardrails"

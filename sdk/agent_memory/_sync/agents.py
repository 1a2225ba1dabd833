"""`client.agents`: agents' settings, and what bounds them (contract §4, §5)."""

from collections.abc import Iterable, Mapping
from typing import Any

from agent_memory._sync.resource import Resource, given, segment, texts


class Agents(Resource):
    """The agents of the caller's tenant."""

    def configure(
        self,
        agent_id: str,
        *,
        capacity: int | None = None,
        pinned_namespaces: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """Sets an agent's episodic capacity and pinned namespaces; needs `memory.admin`."""
        pinned = texts(pinned_namespaces)
        body = {"episodic": given(capacity=capacity, pinned_namespaces=pinned)}
        path = f"/api/v1/agents/{segment(agent_id)}/memory/config"
        return self._document("PATCH", path, json=body)

    def summary(self, agent_id: str) -> dict[str, Any]:
        """What an agent holds, in figures (RFC-0015 "Agent Memory Summary")."""
        return self._client.memory.summary(agent_id)

    def guardrails(self, coordinator_id: str) -> dict[str, Any]:
        """A coordinator's guardrails (RFC-0015 §6.6); needs `memory.admin`."""
        return self._document("GET", _guardrails(coordinator_id))

    def set_guardrails(
        self, coordinator_id: str, guardrails: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Changes those that are given; None takes one away. Needs `memory.admin`."""
        body = {"guardrails": dict(guardrails)}
        return self._document("PATCH", _guardrails(coordinator_id), json=body)


def _guardrails(coordinator_id: str) -> str:
    return f"/api/v1/coordinators/{segment(coordinator_id)}/guardrails"

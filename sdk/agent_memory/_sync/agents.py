"""`client.agents`: agents, their settings and their guardrails."""

from collections.abc import Iterable
from typing import Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.model import (
    Agent,
    AgentSettings,
    CoordinatorGuardrails,
    EvictionCandidate,
    GuardrailChanges,
    MemorySummary,
)
from agent_memory.page import Paging
from agent_memory.requests import UNSET, Unset, assert_known, drop_unset, quote_segment, to_list
from agent_memory.responses import parse


class Agents(Resource):
    """The agents of the caller's tenant."""

    def list(self, **paging: Unpack[Paging]) -> Pages[Agent]:
        """Return the visible agents, with the use and the room of their memory.

            for agent in client.agents.list():
                print(agent.agent_id, agent.episodic.room)

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list("/api/v1/agents", "agents", Agent.from_document, paging)

    def get_settings(self, agent_id: str) -> AgentSettings:
        """Return the limits of an agent's memory.

        client.agents.get_settings("biller").episodic.capacity
        """
        return parse(AgentSettings.from_document, self._call("GET", _config(agent_id)))

    def configure(
        self,
        agent_id: str,
        *,
        capacity: int | Unset = UNSET,
        pinned_namespaces: Iterable[str] | Unset = UNSET,
        max_entries: int | Unset = UNSET,
        max_total_size_kb: int | Unset = UNSET,
        history_days: int | Unset | None = UNSET,
    ) -> AgentSettings:
        """Set limits of an agent's memory; needs `memory.admin`. Omitted ones stay unchanged.

            client.agents.configure("biller", capacity=5_000, max_entries=500)

        Args:
            capacity: the maximum number of episodic entries.
            pinned_namespaces: new episodic entries in these are pinned.
            max_entries: the maximum number of working entries outside tasks.
            max_total_size_kb: their size together, in units of 1,024 bytes.
            history_days: days for which earlier values of episodic entries are kept; None: the
                default.
        """
        pinned = pinned_namespaces if pinned_namespaces is UNSET else to_list(pinned_namespaces)
        history = {"days": history_days} if isinstance(history_days, int) else history_days
        episodic = drop_unset(capacity=capacity, pinned_namespaces=pinned, history=history)
        working = drop_unset(max_entries=max_entries, max_total_size_kb=max_total_size_kb)
        body = {"episodic": episodic, "working": working}
        given = {name: settings for name, settings in body.items() if settings}
        answer = self._call("PATCH", _config(agent_id), json=given)
        return parse(AgentSettings.from_document, answer)

    def get_summary(self, agent_id: str) -> MemorySummary:
        """Return an agent's memory in figures (RFC-0015 "Agent Memory Summary").

        client.agents.get_summary("biller").working.entry_count
        """
        return self._client.memory.summary(agent_id)

    def list_eviction_order(
        self, agent_id: str, **paging: Unpack[Paging]
    ) -> Pages[EvictionCandidate]:
        """Return an agent's episodic entries in the order in which they are evicted.

            client.agents.list_eviction_order("biller", limit=1).list()

        The entries have no values. Only the agent and the coordinators of its open tasks see them.

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        path = f"/api/v1/agents/{quote_segment(agent_id)}/memory/eviction"
        return self._list(path, "entries", EvictionCandidate.from_document, paging)

    def get_guardrails(self, coordinator_id: str) -> CoordinatorGuardrails:
        """Return a coordinator's guardrails (RFC-0015 §6.6), for itself and for `memory.admin`.

        client.agents.get_guardrails("planner").guardrails.max_working_memory_per_task
        """
        answer = self._call("GET", _guardrails(coordinator_id))
        return parse(CoordinatorGuardrails.from_document, answer)

    def set_guardrails(
        self, coordinator_id: str, **guardrails: Unpack[GuardrailChanges]
    ) -> CoordinatorGuardrails:
        """Change guardrails; None removes one, and omitted ones stay. Needs `memory.admin`.

        client.agents.set_guardrails("planner", denied_semantic_namespaces=["salaries"])
        """
        assert_known(guardrails, GuardrailChanges)
        body = {"guardrails": guardrails}
        answer = self._call("PATCH", _guardrails(coordinator_id), json=body)
        return parse(CoordinatorGuardrails.from_document, answer)


def _config(agent_id: str) -> str:
    return f"/api/v1/agents/{quote_segment(agent_id)}/memory/config"


def _guardrails(coordinator_id: str) -> str:
    return f"/api/v1/coordinators/{quote_segment(coordinator_id)}/guardrails"

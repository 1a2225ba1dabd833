"""Agents' settings, the upkeep of their counters, and the list of agents (RFC-0015 §2.2, §7)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize, inspects, is_allowed
from functions.entries.agent_store import (
    AgentStore,
    AgentUsage,
    build_agent_correction,
    build_task_correction,
    to_usage,
)
from functions.entries.authority import CONFIGURE_AGENT, READ_AGENT, AgentTarget
from functions.entries.capacity import Evictions, find_evictions
from functions.entries.counters import EntryCounts
from functions.entries.requests import AgentConfig
from functions.entries.store import EntryStore
from functions.entries.tiers import EPISODIC, WORKING
from functions.entries.writer import EntryWriter
from functions.identity.model import ADMIN, Principal
from functions.identity.store import PrincipalStore
from functions.namespaces.store import correct_bindings
from functions.platform import item_types
from functions.platform.bounded_pages import (
    BoundedPage,
    Examined,
    WantedPage,
    sort_newest,
    take_page,
)
from functions.platform.clock import Clock
from functions.platform.errors import VersionMismatch
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.items import Item
from functions.platform.kept_history import change_days, get_days
from functions.platform.keys import get_tenant
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.tasks.lifecycle_store import AssignmentStore

AgentSettings = dict[str, Any]
_KB = 1024  # bytes
_EVICTED_TOGETHER = 30  # entries; two writes each, in one transaction
_LONGEST_WAIT = 0.05  # seconds; the index follows within milliseconds


@dataclass(eq=False)
class AgentMemory:
    """Configures the memory of a tenant's agents, and enforces the configuration."""

    _agents: AgentStore
    _assignments: AssignmentStore
    _entries: EntryStore
    _writer: EntryWriter
    _audit: AuditTrail
    _clock: Clock

    def get_settings(self, tenant: str, agent: str) -> AgentSettings:
        """Read an agent's settings, in the form of the API: one read."""
        return _to_settings(agent, self._agents.get_item(tenant, agent))

    @retry_on(ConditionFailed, "others are changing this agent's settings")
    def configure(
        self, caller: Principal, agent: str, config: AgentConfig, token: RequestToken
    ) -> AgentSettings:
        """Change an agent's settings; the agent need not have called yet.

        If the capacity is lowered, the scheduled function evicts the excess.

        Raises:
            AccessDenied: when the caller has no `memory.admin`.
            IdempotencyConflict: when the token's key was used with another body.
            VersionMismatch: when the request had been carried out, and the settings were changed.
            Throttled: when others keep changing the settings.
        """
        authorize(caller, CONFIGURE_AGENT, AgentTarget(agent))
        item, now = self._agents.get_item(caller.tenant, agent), self._clock()
        given = _to_attributes(config, item, now)
        verdict = token.judge(item.get("requests"))
        if verdict is Verdict.REPLAY:
            return _to_settings(agent, item)
        if verdict is Verdict.SUPERSEDED:
            raise VersionMismatch.of_replay("the agent's configuration")
        changes: Item = {"requests": token.add_to(item.get("requests"))} | given
        before, after = _to_settings(agent, item), _to_settings(agent, item | changes)
        record = self._audit.record(caller, CONFIGURE_AGENT, f"agent:{agent}", before, after)
        self._agents.change_settings(caller.tenant, agent, item, changes, now, record)
        return after

    def maintain(self, item: Item, has_time: Callable[[], bool]) -> Counter[str]:
        """Evict the entries above an agent's capacity, and reconcile its counters; count both.

        Args:
            item: the agent's due item; it stays due if the time runs out.
        """
        tenant, agent = get_tenant(item["pk"]), item["agent_id"]
        evicted = self.evict_excess(tenant, agent, has_time)
        if not has_time():
            return Counter(evicted=evicted)
        repaired = self.reconcile_counters(tenant, agent, has_time)
        if repaired is None:
            self._agents.postpone(item, self._clock())
            return Counter(evicted=evicted)
        self._agents.complete(item, self._clock())
        return Counter(evicted=evicted, reconciled=1, repaired=repaired)

    def evict_excess(self, tenant: str, agent: str, has_time_left: Callable[[], bool]) -> int:
        """Evict the entries above the limits of an agent's settings, in the order of RFC-0015 §2.2.

        Stop when the capacity suffices, nothing can be evicted, or the time runs out. The condition
        of each transaction is the remaining capacity that the decision was based on, so concurrent
        evictions never evict too many entries.

        Returns:
            the number of removed entries.

        Raises:
            Throttled: when others keep writing the agent's memory.
        """
        evicted = 0
        backoff = Backoff(
            "others are writing this agent's memory", attempts=8, longest_wait=_LONGEST_WAIT
        )
        while has_time_left():
            usage = to_usage(self._agents.get_item(tenant, agent))
            now, count = self._clock(), min(usage.excess, _EVICTED_TOGETHER)
            if count == 0:
                break
            found = find_evictions(self._entries, tenant, agent, now, count, max_expired=count)
            if not found:
                break
            if self._writer.write_evictions(
                tenant, agent, Evictions(found, usage.episodic_room), now
            ):
                evicted += len(found)
            else:
                backoff.wait()
        return evicted

    def reconcile_counters(
        self, tenant: str, agent: str, has_time_left: Callable[[], bool]
    ) -> int | None:
        """Compare an agent's counters with all entries that it holds, and correct them.

        Every change of a counter increments `counter_changes` in its item. The condition of a
        correction is that no counter has changed since before the entries were read: it is exact.

        Returns:
            the number of corrected items; None if the time ran out or a counter changed.
        """
        task_ids = self._assignments.list_task_ids(tenant, agent)
        own, tasks = self._agents.get_with_tasks(tenant, agent, task_ids)
        counts = EntryCounts()
        for entry in self._entries.iterate_private(tenant, agent):
            if not has_time_left():
                return None
            counts.add(entry)
        assigned = self._assignments.list_of_agent(tenant, agent)
        bound = [name for each in assigned for name in each.guarding_coordinators]
        key = item_types.AGENT.build_key(tenant, agent=agent)
        corrections = [
            build_agent_correction(key, own, counts),
            correct_bindings(key, own, bound),
            *(build_task_correction(*each, agent, counts) for each in tasks.items()),
        ]
        writes = [write for write in corrections if write is not None]
        try:
            for write in writes:
                self._agents.correct(write)
        except ConditionFailed:
            return None
        return len(writes)


def _to_attributes(config: AgentConfig, item: Item, now: int) -> Item:
    """Return the given settings as attributes; None removes one."""
    episodic = config.episodic.model_dump(exclude_unset=True)
    working = config.working.model_dump(exclude_unset=True)
    attributes: Item = {}
    if "capacity" in episodic:
        attributes["episodic_capacity"] = episodic["capacity"]
    if "pinned_namespaces" in episodic:
        attributes["episodic_pinned_namespaces"] = (
            list(dict.fromkeys(episodic["pinned_namespaces"])) or None
        )
    if "history" in episodic:
        days = (episodic["history"] or {"days": 0})["days"]
        history = change_days(item.get("episodic_history"), days, 0, now)
        attributes["episodic_history"] = history
    if "max_entries" in working:
        attributes["working_max_entries"] = working["max_entries"]
    if "max_total_size_kb" in working:
        attributes["working_max_bytes"] = _KB * working["max_total_size_kb"]
    return attributes


def _to_settings(agent: str, item: Item) -> AgentSettings:
    return {
        "agent_id": agent,
        "episodic": {
            "capacity": item.get("episodic_capacity", EPISODIC.max_entries),
            "eviction_policy": "lru",
            "pinned_namespaces": item.get("episodic_pinned_namespaces") or [],
            "history": {"days": get_days(item.get("episodic_history"), 0)},
        },
        "working": {
            "max_entries": item.get("working_max_entries", WORKING.max_entries),
            "max_total_size_kb": item.get("working_max_bytes", WORKING.max_bytes) // _KB,
        },
    }


@dataclass(eq=False)
class AgentList:
    """The agents of a caller's tenant: principals of kind agent, and others with memory.

    Args:
        list_overseen: lists the agents that have an open task of the caller.
    """

    _agents: AgentStore
    _principals: PrincipalStore
    _list_overseen: Callable[[Principal], set[str]]

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[Principal]:
        """List the agents that the caller may see, newest first: itself, and those it oversees.

        A caller with `memory.admin` or `memory.inspect` sees all agents of the tenant: three calls
        for each group of its principals.
        """
        return take_page(wanted, self._examine(caller, wanted))

    def _examine(self, caller: Principal, wanted: WantedPage) -> Iterator[Examined[Principal]]:
        for group in self._list_groups(caller, wanted):
            others = [each.id for each in group if each.kind != "agent"]
            used = self._find_holders(caller.tenant, others)
            agents = ({each.id for each in group} - set(others)) | used
            yield from (
                Examined(each.list_position, each if each.id in agents else None) for each in group
            )

    def _list_groups(self, caller: Principal, wanted: WantedPage) -> Iterable[list[Principal]]:
        if ADMIN in caller.permissions or inspects(caller):
            return self._principals.list_groups(caller.tenant, wanted)
        overseen = self._list_overseen(caller)
        found = self._principals.get_many(caller.tenant, {caller.id, *overseen})
        visible = (
            each
            for each in found
            if is_allowed(caller, READ_AGENT, AgentTarget(each.id, each.id in overseen))
        )
        return [sort_newest(visible, wanted)]

    def get_usages(self, caller: Principal, agents: Iterable[str]) -> dict[str, AgentUsage]:
        """Read the usage of visible agents, by id: two calls for each hundred."""
        items = self._agents.get_items(caller.tenant, agents)
        restricted = self._agents.restrictions.find_each(caller.tenant, items)
        return {
            agent: to_usage(item, restricted[agent].max_episodic) for agent, item in items.items()
        }

    def _find_holders(self, tenant: str, agents: Iterable[str]) -> set[str]:
        """Return the agents that hold memory, or have settings of it."""
        items = self._agents.get_items(tenant, agents)
        return {agent for agent, item in items.items() if item is not None and "agent_id" in item}

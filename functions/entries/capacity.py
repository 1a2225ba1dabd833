"""The limits of an agent's memory: evict, pin and reject entries (RFC-0015 §2.2, §7, §9.4).

A create reads no counters. Its transaction has the condition that no limit is reached and that no
setting pins the entry. If the condition fails, the error has the counters, and the functions here
decide by them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from functions.authorization.rules import is_allowed
from functions.entries.agent_store import AgentStore, AgentUsage
from functions.entries.authority import READ_EVICTION_ORDER, AgentTarget
from functions.entries.counters import (
    CONFIGURE,
    STORE_ELSEWHERE,
    count_agent_changes,
    count_task_changes,
    find_first_beyond,
)
from functions.entries.model import Entry, Transition
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.tasks.access import TaskAccess

MAX_EVICTED = 20  # by one create; the schedule evicts the excess over a lowered capacity
_MIN_INTERVAL = 3_600_000  # ms; between two recorded reads of an entry
_NEARLY_FULL = 0.1  # of the capacity, or
_FEW_ENTRIES = 100  # that still fit: below, every read is recorded


class Evictions(NamedTuple):
    """The evictions of a transaction.

    Attributes:
        free_capacity: the remaining capacity at the decision; None if nothing is evicted.
    """

    transitions: tuple[Transition, ...] = ()
    free_capacity: int | None = None


NO_EVICTIONS = Evictions()


def plan_evictions(
    store: EntryStore,
    tenant: str,
    agent: str,
    usage: AgentUsage,
    transitions: Sequence[Transition],
    now: int,
) -> Evictions:
    """Plan the evictions after which the transitions fit (RFC-0015 §2.2).

    The plan is empty if they fit, or if the index lists too few entries yet: the transaction then
    fails again, and the index is read again.
    """
    delta = count_agent_changes(transitions)[agent]
    if delta.episodic <= 0 or usage.episodic_room >= delta.episodic:
        return NO_EVICTIONS
    if usage.is_above_limit or _never_fits(usage, transitions, agent):
        raise _capacity_error(usage, transitions, agent)
    count = min(delta.episodic - usage.episodic_room, delta.episodic + MAX_EVICTED)
    kept = {transition.item_key for transition in transitions}
    found = find_evictions(store, tenant, agent, now, count, kept=kept)
    # The index lists too few entries: either the others are pinned, or the index lags behind. In
    # the second case the transaction fails, and the counters and the index are read again.
    if len(found) < min(delta.episodic, count):
        if usage.episodic_pinned_count >= usage.episodic_entry_count:
            raise _capacity_error(usage, transitions, agent)
        return NO_EVICTIONS
    return Evictions(found, usage.episodic_room + usage.episodic_reserved)


def find_evictions(
    store: EntryStore,
    tenant: str,
    agent: str,
    now: int,
    count: int,
    *,
    max_expired: int = MAX_EVICTED,
    kept: Collection[Key] = (),
) -> tuple[Transition, ...]:
    """Read removable entries, and select those that free the capacity for `count` entries."""
    most = count + len(kept)
    expired, candidates = run_parallel(
        (
            partial(store.list_expired, tenant, agent, now),
            lambda: list(islice(store.iterate_by_eviction(tenant, agent, None, most), most)),
        )
    )
    return select_evictions(expired, candidates, count, max_expired, kept)


def select_evictions(
    expired: Iterable[Entry],
    candidates: Iterable[Entry],
    count: int,
    max_expired: int,
    kept: Collection[Key] = (),
) -> tuple[Transition, ...]:
    """Select the removals that free the capacity for `count` entries, or for fewer.

    Args:
        expired: the agent's expired entries. They are removed before anything is evicted.
        candidates: the entries that can be evicted, the first to evict first.
        max_expired: the maximum number of expired entries to remove.
        kept: the keys of items that aren't removed.
    """
    removed = [each for each in expired if each.policy.is_evictable and each.item_key not in kept]
    removed = removed[:max_expired]
    excluded = {entry.item_key for entry in removed} | set(kept)
    evicted = [each for each in candidates if each.item_key not in excluded]
    return (
        *(Transition(entry, None, reason="expired") for entry in removed),
        *(
            Transition(entry, None, reason="evicted")
            for entry in evicted[: max(count - len(removed), 0)]
        ),
    )


def apply_pinned_namespaces(
    transitions: Iterable[Transition], agent: str, namespaces: frozenset[str]
) -> tuple[Transition, ...]:
    """Return the transitions with the agent's new entries in these namespaces pinned."""
    return tuple(
        replace(each, new=each.new._replace(pinned=True))
        if each.new is not None
        and each.new.pinned_by_settings
        and each.new.agent_id == agent
        and each.new.namespace in namespaces
        else each
        for each in transitions
    )


def _never_fits(usage: AgentUsage, transitions: Sequence[Transition], agent: str) -> bool:
    """Tell whether no eviction makes them fit: pinned and newly written entries stay."""
    written = (each.new for each in transitions if each.new is not None)
    kept = sum(entry.agent_id == agent and entry.is_evictable for entry in written)
    return (
        usage.episodic_pinned_count + count_agent_changes(transitions)[agent].pinned + kept
        > usage.episodic_capacity
    )


def _capacity_error(
    usage: AgentUsage, transitions: Sequence[Transition], agent: str
) -> CapacityExceeded:
    def is_beyond(part: Sequence[Transition]) -> bool:
        grows = count_agent_changes(part)[agent].episodic > 0
        return grows and (usage.is_above_limit or _never_fits(usage, part, agent))

    remedy = f"delete or unpin entries first; or {STORE_ELSEWHERE} {CONFIGURE}episodic.capacity"
    error = CapacityExceeded(
        "episodic_capacity", usage.episodic_entry_count, usage.episodic_capacity, remedy
    )
    return error.at(find_first_beyond(transitions, is_beyond))


def find_expired(
    store: EntryStore, tenant: str, transitions: Sequence[Transition], now: int
) -> list[Entry]:
    """Return expired entries that still count against limits of the transitions."""
    found = [
        entry
        for agent in {
            each.current.agent_id for each in transitions if each.current.policy.is_private
        }
        for entry in store.list_expired(tenant, agent, now)
    ]
    for task in count_task_changes(transitions):
        found += [each for each in store.list_of_task(tenant, task) if each.is_expired(now)]
    return list({entry.id: entry for entry in found}.values())


class AccessTracker:
    """Records when owners read episodic entries, which orders evictions (RFC-0015 §2.2).

    If an eviction is near, every read is recorded, else one an hour for each entry. A record makes
    no version and no event.
    """

    def __init__(self, store: EntryStore, agents: AgentStore, clock: Clock) -> None:
        self._store = store
        self._agents = agents
        self._clock = clock

    def record_reads(self, caller: Principal, entries: Iterable[Entry]) -> None:
        """Record the caller's reads: one more call if an entry is its own and evictable."""
        own = [entry for entry in entries if _is_tracked(caller, entry)]
        if own:
            usage, _ = self._agents.get_limited_usage(caller.tenant, caller.id)
            self.record_own_reads(caller, own, usage)

    def record_own_reads(
        self, caller: Principal, entries: Iterable[Entry], usage: AgentUsage
    ) -> None:
        """Record reads of the caller's own entries, given the caller's usage."""
        now = self._clock()
        interval = 0 if is_nearly_full(usage) else _MIN_INTERVAL
        run_parallel(
            [
                partial(self._store.record_access, entry, now)
                for entry in entries
                if _is_tracked(caller, entry) and entry.last_accessed_at < now - interval
            ]
        )


def is_nearly_full(usage: AgentUsage) -> bool:
    """Return whether an eviction is near: at most 100 entries more fit, or 10 % of the capacity."""
    return usage.episodic_room <= max(_FEW_ENTRIES, _NEARLY_FULL * usage.episodic_capacity)


def _is_tracked(caller: Principal, entry: Entry) -> bool:
    return entry.is_evictable and entry.agent_id == caller.id


class EvictionOrder:
    """Lists the entries of an agent that are evicted next, for callers that may read them."""

    def __init__(self, store: EntryStore, tasks: TaskAccess, clock: Clock) -> None:
        self._store = store
        self._tasks = tasks
        self._clock = clock

    def can_read(self, caller: Principal, agent: str) -> bool:
        """Tell whether the caller may read the agent's episodic memory."""
        target = AgentTarget(agent)
        if is_allowed(caller, READ_EVICTION_ORDER, target):
            return True
        is_overseen = self._tasks.coordinates_agent(caller, agent)
        return is_allowed(caller, READ_EVICTION_ORDER, target._replace(is_overseen=is_overseen))

    def list_all(self, caller: Principal, agent: str, wanted: WantedPage) -> Iterator[Entry]:
        """List entries from the begin of a page, without recording reads.

        The list is empty if the caller may not read them. Pinned and expired entries aren't listed.
        It takes a call to an index, and one for each hundred entries; more if entries have changed
        since the index was written.

        Args:
            wanted: the page; each position is an `eviction_order`.
        """
        if not self.can_read(caller, agent):
            return
        tenant, now, page_size = caller.tenant, self._clock(), wanted.read_size
        rows = self._store.iterate_by_eviction(tenant, agent, wanted.after, page_size)
        while listed := list(islice(rows, page_size)):
            present = self._store.get_many(each.item_key for each in listed)
            for row in listed:
                entry = present.get(row.item_key)
                is_same = entry is not None and entry.eviction_order == row.eviction_order
                if entry is not None and is_same and not entry.is_expired(now):
                    yield entry

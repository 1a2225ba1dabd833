"""The limits of an agent's memory: what is evicted, pinned and refused (RFC-0015 §2.2, §7, §9.4).

A create reads no counters. Its transaction is on the condition that limits aren't reached and that
no settings pin the entry; when the condition fails, it brings the counters, and the functions here
decide on them.
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

MAX_EVICTED = 20  # by one create; the schedule evicts what a lowered capacity leaves over
_MIN_INTERVAL = 3_600_000  # ms; between two recorded reads of an entry
_NEARLY_FULL = 0.1  # of the capacity, or
_FEW_ENTRIES = 100  # that still fit: from there on every read is recorded


class Evictions(NamedTuple):
    """Tells what a transaction evicts.

    Attributes:
        free_capacity: the capacity left when they were decided on; None if nothing is evicted.
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
    """Decide what has to be evicted so that the transitions fit (RFC-0015 §2.2).

    Nothing, if they fit, or if too little is listed yet by the index: the transaction then fails
    again, and the index is read again.
    """
    delta = count_agent_changes(transitions)[agent]
    if delta.episodic <= 0 or usage.episodic_room >= delta.episodic:
        return NO_EVICTIONS
    if usage.is_above_limit or _never_fits(usage, transitions, agent):
        raise _capacity_error(usage, transitions, agent)
    count = min(delta.episodic - usage.episodic_room, delta.episodic + MAX_EVICTED)
    kept = {transition.item_key for transition in transitions}
    found = find_evictions(store, tenant, agent, now, count, kept=kept)
    # The index lists fewer than have to go: either the rest is pinned, or the index lags behind.
    # In the second case the transaction fails, and the counters and the index are read again.
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
    """Read what can be removed, and select what frees the capacity for `count` entries."""
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
    """Select the removals that free the capacity for `count` entries, or as many as there are.

    Args:
        expired: the agent's expired entries. They are removed before anything is evicted.
        candidates: the entries that can be evicted, the first to evict first.
        max_expired: how many expired entries are removed at most.
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
    """Return whether no eviction makes them fit: what is pinned, or written by them, stays."""
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
    """Records when owners read episodic entries: eviction is ordered by it (RFC-0015 §2.2).

    A read is recorded only where it matters: always where few more creates would evict the entry,
    else at most once an hour for an entry. It makes no version and no event.
    """

    def __init__(self, store: EntryStore, agents: AgentStore, clock: Clock) -> None:
        self._store = store
        self._agents = agents
        self._clock = clock

    def record_reads(self, caller: Principal, entries: Iterable[Entry]) -> None:
        """Record that the caller read these: one read more if any is its own and evictable."""
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
    """Lists what an agent's memory evicts next, to those who may read these entries."""

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
        """List entries from where a page begins; nothing is recorded as read.

        Nothing, where the caller may not read them. Pinned entries are never evicted and aren't
        listed, nor are expired ones. The calls are one of an index, and one for each hundred
        entries; more where entries have changed since the index was written.

        Args:
            wanted: the page; its positions are each an `eviction_order`.
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

"""Queries: what matches and may be read, newest first (RFC-0015 §4; contract §4)."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from functions.entries.access import in_readable_tasks
from functions.entries.matching import matches, row_matches
from functions.entries.model import Entry, Filters
from functions.entries.recency import Recency
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.namespaces.rules import allows
from functions.namespaces.service import Namespaces
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.errors import Unavailable, ValidationFailed
from functions.platform.parallel import side_by_side
from functions.tasks.service import Tasks

_INDEX_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4)  # seconds; an index follows within milliseconds


@dataclass(frozen=True, slots=True)
class Found:
    """What matches: every order, newest first, and the entries that had to be read anyway."""

    orders: list[str]
    read: dict[str, Entry]

    @property
    def total(self) -> int:
        return len(self.orders)


class Queries:
    """Queries over private and semantic memory. What the caller may not read never matches."""

    def __init__(
        self,
        store: EntryStore,
        tasks: Tasks,
        namespaces: Namespaces,
        recency: Recency,
        clock: Clock,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._namespaces = namespaces
        self._recency = recency
        self._clock = clock

    def find(self, caller: Principal, filters: Filters) -> Found:
        """All that matches.

        Raises:
            ValidationFailed: the query needs an agent_id (RFC-0015 §4.1).
        """
        assert_owner_known(caller, filters)
        return self.find_own(caller, filters)

    def find_own(self, caller: Principal, filters: Filters) -> Found:
        """All that matches, private memory being the caller's unless the filters say whose."""
        private, (semantic, orders) = self._both(caller, filters)
        read = {entry.order: entry for entry in (*private, *semantic)}
        return Found(sorted((*read, *orders), reverse=True), read)

    def page(self, caller: Principal, found: Found, offset: int, limit: int) -> list[Entry]:
        """The entries of a page, read by the caller; what vanished meanwhile is left out."""
        entries = self.load(caller, found, offset, limit)
        self._recency.note_all(caller, entries)
        return entries

    def load(self, caller: Principal, found: Found, offset: int, limit: int) -> list[Entry]:
        """The same, for other ends than a read."""
        page = found.orders[offset : offset + limit]
        unread = [entry_keys.parse_sort_token(order) for order in page if order not in found.read]
        read = found.read | self._read(caller.tenant, unread)
        now = self._clock()
        return [read[order] for order in page if order in read and not read[order].expired(now)]

    def _read(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        """The entries that stand in these ids' places, by their order; another's is no row's."""
        addresses = [entry_keys.parse_entry_id(tenant, id) for id in ids]
        places = [address[0].item_key for address in addresses if address is not None]
        fetched = self._store.get_many(places) if places else {}
        return {entry.order: entry for entry in fetched.values()}

    def _both(
        self, caller: Principal, filters: Filters
    ) -> tuple[list[Entry], tuple[list[Entry], list[str]]]:
        shared = filters.tier == "semantic" or (filters.tier is None and filters.agent_id is None)
        private: list[Entry] = []
        semantic: tuple[list[Entry], list[str]] = ([], [])
        if filters.tier != "semantic":
            private = self._private(caller, filters)
        if shared and filters.pinned is None:
            semantic = self._semantic(caller, filters)
        return private, semantic

    def _private(self, caller: Principal, filters: Filters) -> list[Entry]:
        if filters.task is None or filters.tier == "episodic":
            return self._of_owner(caller, filters)
        tasks = self._tasks.known(caller.tenant, {filters.task})
        if not any(self._tasks.reads_memory(caller, task) for task in tasks):
            return self._of_owner(caller, filters)
        working = self._of_task(caller, filters.task, replace(filters, tier="working"))
        if filters.tier is not None:
            return working
        return working + self._of_owner(caller, replace(filters, tier="episodic"))

    def _of_task(self, caller: Principal, task_id: str, filters: Filters) -> list[Entry]:
        """A task's working memory. Its counter proves that the index has left nothing out."""
        now = self._clock()
        for pause in _INDEX_PAUSES:
            (task,) = self._tasks.known(caller.tenant, {task_id})
            found = self._store.of_task(caller.tenant, task_id)
            working = [each for each in found if (each.tier, each.task) == ("working", task_id)]
            if len(working) >= task.held:
                return [entry for entry in working if matches(entry, filters, now)]
            time.sleep(pause)
        raise Unavailable("the index of this task is behind; try again in a second")

    def _of_owner(self, caller: Principal, filters: Filters) -> list[Entry]:
        owner = filters.agent_id or caller.id
        if owner == caller.id:
            return self._in_partition(caller.tenant, owner, filters)
        return [
            *self._working_of(caller, owner, filters),
            *self._episodic_of(caller, owner, filters),
        ]

    def _in_partition(self, tenant: str, owner: str, filters: Filters) -> list[Entry]:
        now = self._clock()
        if filters.namespace is None or filters.key is None:
            return self._store.of_agent(tenant, owner, filters, now)
        slot = entry_keys.build_private_address(tenant, owner, filters.namespace, filters.key)
        entry = self._store.get(slot.item_key)
        filters = replace(filters, agent_id=owner)
        return [entry] if entry is not None and matches(entry, filters, now) else []

    def _working_of(self, caller: Principal, owner: str, filters: Filters) -> Iterable[Entry]:
        if filters.tier == "episodic":
            return []
        found = self._in_partition(caller.tenant, owner, replace(filters, tier="working"))
        return in_readable_tasks(self._tasks, caller, found)

    def _episodic_of(self, caller: Principal, owner: str, filters: Filters) -> Iterable[Entry]:
        if filters.tier == "working" or not self._tasks.oversees(caller, owner):
            return []
        return self._in_partition(caller.tenant, owner, replace(filters, tier="episodic"))

    def _semantic(self, caller: Principal, filters: Filters) -> tuple[list[Entry], list[str]]:
        """Matching entries where the key is known, else what the index rows say."""
        names = self.readable_namespaces(caller, filters)
        if filters.key is not None:
            return self._at_key(caller.tenant, names, filters.key, filters), []
        return [], self._orders(caller.tenant, names, filters)

    def readable_namespaces(self, caller: Principal, filters: Filters) -> list[str]:
        """The namespaces that the filters mean and whose memory the caller may read."""
        if filters.namespace is not None:
            found = self._namespaces.find(caller, filters.namespace)
            readable = found is not None and allows(caller, found, "read")
            return [filters.namespace] if readable else []
        names = [each.name for each in self._namespaces.readable(caller)]
        prefix = filters.namespace_prefix or ""
        return [name for name in names if name.startswith(prefix)]

    def _at_key(self, tenant: str, names: list[str], key: str, filters: Filters) -> list[Entry]:
        places = [entry_keys.build_semantic_address(tenant, name, key).item_key for name in names]
        found = self._store.get_many(places).values()
        now = self._clock()
        return [entry for entry in found if matches(entry, filters, now)]

    def _orders(self, tenant: str, names: list[str], filters: Filters) -> list[str]:
        """The orders of semantic entries that match: the index rows of each tag, merged."""
        tags: list[str | None] = [*sorted(filters.tags | filters.tags_any)] or [None]
        reads = [
            partial(self._store.index_rows, tenant, name, tag) for name in names for tag in tags
        ]
        now = self._clock()
        listed: dict[str | None, set[str]] = {tag: set() for tag in tags}
        for tag, rows in zip(tags * len(names), side_by_side(reads), strict=True):
            matching = (row for row in rows if row_matches(row, filters, now))
            listed[tag].update(entry_keys.parse_index_row(row["sk"]) for row in matching)
        return list(_merged(listed, filters))


def assert_owner_known(caller: Principal, filters: Filters) -> None:
    """Raises `ValidationFailed` where private memory is meant, but not whose (RFC-0015 §4.1)."""
    private = filters.tier in ("working", "episodic")
    named = filters.agent_id is not None or filters.task is not None
    if private and not named and caller.kind != "agent":
        raise ValidationFailed("agent_id", "is required for working and episodic memory")


def _merged(listed: dict[str | None, set[str]], filters: Filters) -> set[str]:
    """What stands under all of `tags` and under at least one of `tags_any`."""
    if None in listed:
        return listed[None]
    every = [listed[tag] for tag in filters.tags]
    some = [listed[tag] for tag in filters.tags_any]
    return set.intersection(*every, *([set().union(*some)] if some else []))

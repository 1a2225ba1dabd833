"""Read pages of the entries that several sources list together.

A source lists entries newest first: the index rows of a namespace, an agent's entries of a type, a
task's entries. A page has the newest entries of all sources. A page that isn't counted reads index
rows, which may lag behind private memory by milliseconds. A complete source has everything that was
written before the query.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from functions.entries.authority import PrivateScope
from functions.entries.filters import ROW_ATTRIBUTES, Filters, build_row_matcher, select_matching
from functions.entries.model import Entry, is_inherited_token, mark_inherited
from functions.entries.store import EntryStore
from functions.entries.tiers import POLICIES, SEMANTIC, WORKING
from functions.identity.model import Principal
from functions.platform import entry_keys
from functions.platform.bounded_pages import (
    BoundedPage,
    Examined,
    WantedPage,
    read_page,
    select_shown,
    take_page,
)
from functions.platform.clock import Clock
from functions.platform.errors import Unavailable
from functions.platform.item_types import AGENT, SEMANTIC_ENTRY, TASK
from functions.platform.items import Item
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.parallel import run_parallel
from functions.platform.schema import (
    BY_CREATION,
    BY_TASK,
    BY_TENANT,
    CREATION_ATTRIBUTE,
    FILTER_ATTRIBUTES,
    TYPE_ORDER_ATTRIBUTE,
)
from functions.tasks.access import TaskAccess

_ALL = 1_000_000_000  # rows; DynamoDB returns a megabyte for each call
_READ_TOGETHER = 100  # entries: a call of DynamoDB


class Row(NamedTuple):
    """An entry as a source lists it.

    Attributes:
        entry: the entry, if the source has read it and it matches.
        may_match: whether the entry may match: no attribute of the row excludes it.
    """

    token: str
    entry: Entry | None = None
    may_match: bool = True


class Source(NamedTuple):
    """A list of entries, newest first.

    Attributes:
        list_rows: lists up to a number of rows that follow a sort token, or the newest.
        select: selects matching entries among those that were read.
    """

    list_rows: Callable[[str | None, int], list[Row]]
    select: Callable[[Sequence[Entry]], Iterable[Entry]]


class PageReader:
    """Reads pages of several sources."""

    def __init__(self, store: EntryStore) -> None:
        self._store = store

    def read_page(
        self, tenant: str, sources: Sequence[Source], wanted: WantedPage
    ) -> BoundedPage[Entry]:
        """Read a page, newest first; positions are sort tokens."""
        if not wanted.is_counted:
            return take_page(wanted, self._examine(tenant, sources, wanted))
        page = read_page(wanted, _list_all(sources), get_position=lambda each: each.row.token)
        found = select_shown(self._load(tenant, sources, page.elements))
        return BoundedPage(list(found), page.end, page.total)

    def read_all(self, tenant: str, sources: Sequence[Source]) -> Iterator[Entry]:
        """Read all entries, newest first, a hundred at a time."""
        listed = _list_all(sources)
        for start in range(0, len(listed), _READ_TOGETHER):
            part = listed[start : start + _READ_TOGETHER]
            yield from select_shown(self._load(tenant, sources, part))

    def _examine(
        self, tenant: str, sources: Sequence[Source], wanted: WantedPage
    ) -> Iterator[Examined[Entry]]:
        """List and read entries in rounds: each lists twice as many rows as the one before."""
        begin, size, is_last = wanted.after, wanted.read_size, False
        while not is_last:
            lists = run_parallel([partial(each.list_rows, begin, size) for each in sources])
            begin = _find_end(lists, size)
            is_last = begin is None
            yield from self._load(tenant, sources, _merge(lists, begin))
            size = min(2 * size, MAX_PAGE_ITEMS)

    def _load(
        self, tenant: str, sources: Sequence[Source], listed: Sequence["_Listed"]
    ) -> Iterator[Examined[Entry]]:
        """Examine rows for entries that match, reading those that no source has read."""
        unread = (row.token for _, row in listed if row.may_match and row.entry is None)
        present = self._read(tenant, unread)
        shown = {row.token: row.entry for _, row in listed if row.entry is not None}
        for number, source in enumerate(sources):
            tokens = (row.token for origin, row in listed if origin == number)
            read = [present.get(entry_keys.parse_sort_token(token)) for token in tokens]
            selected = source.select([entry for entry in read if entry is not None])
            shown |= {entry.sort_token: entry for entry in selected}
        return (Examined(row.token, shown.get(row.token)) for _, row in listed)

    def _read(self, tenant: str, tokens: Iterable[str]) -> dict[str, Entry]:
        ids = set(map(entry_keys.parse_sort_token, tokens))
        found = self._store.get_many(entry_keys.parse_item_keys(tenant, ids))
        return {entry.id: entry for entry in found.values() if entry.id in ids}


class _Listed(NamedTuple):
    """A row and the number of its source."""

    source: int
    row: Row


def _list_all(sources: Sequence[Source]) -> list[_Listed]:
    lists = run_parallel([partial(each.list_rows, None, _ALL) for each in sources])
    return [each for each in _merge(lists) if each.row.may_match]


def _find_end(lists: Iterable[list[Row]], size: int) -> str | None:
    """Return the token down to which all sources were listed; None if all were listed completely.

    Example: with size 2, one source lists 9 and 8, another one 7 and 3. Below 8, the first source
    may have more, so this round ends at 8. The next round begins after 8 and lists 7 again.
    """
    return max((rows[-1].token for rows in lists if len(rows) >= size), default=None)


def _merge(lists: Iterable[list[Row]], end: str | None = None) -> list[_Listed]:
    """Return the rows down to `end`, newest first; of an entry's rows, one that may match."""
    listed = [
        _Listed(number, row)
        for number, rows in enumerate(lists)
        for row in rows
        if end is None or row.token >= end
    ]
    by_token = {
        each.row.token: each for each in sorted(listed, key=lambda each: each.row.may_match)
    }
    return [by_token[token] for token in sorted(by_token, reverse=True)]


SelectNames = Callable[[Collection[str]], Collection[str]]
"""Selects the namespaces whose memory the caller may read."""
_ListRows = Callable[[str | None, int], list[Row]]
_COMPARED_TAGS = 5  # tags among which a page looks for the rarest
_INDEX_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4)  # seconds; an index follows within milliseconds


class Sources:
    """Builds the sources of a query."""

    def __init__(self, store: EntryStore, tasks: TaskAccess, clock: Clock) -> None:
        self._store = store
        self._tasks = tasks
        self._clock = clock

    def of_scope(
        self, caller: Principal, scope: PrivateScope, *, is_complete: bool
    ) -> list[Source]:
        """Build the sources of private memory."""
        select = partial(self._select_in_scope, scope)
        if is_complete or scope.is_small:
            return [_build_source_of(select(self._read_scope(caller.tenant, scope)))]
        if scope.task is not None:
            return [Source(partial(self._list_of_task, caller.tenant, scope), select)]
        partition = AGENT.build_partition(caller.tenant, agent=scope.agent_id)
        list_items = partial(self._store.list_by_creation, BY_CREATION, partition)
        matches = build_row_matcher(scope.filters, FILTER_ATTRIBUTES)
        by_type = [
            Source(partial(_list_private, list_items, policy.id_letter, may_match=matches), select)
            for policy in POLICIES.values()
            if policy.is_private and policy.name in scope.filters.memory_types
        ]
        last = partial(self._list_last_counted, caller.tenant, scope)
        return [Source(last, select), *by_type]

    def _select_in_scope(self, scope: PrivateScope, entries: Iterable[Entry]) -> list[Entry]:
        found = select_matching(entries, scope.filters, self._clock())
        if scope.task_ids is not None:
            return [each for each in found if each.task_id in scope.task_ids]
        return [each._replace(inherited=True) for each in found] if scope.is_inherited else found

    def _read_scope(self, tenant: str, scope: PrivateScope) -> list[Entry]:
        filters = scope.filters
        if scope.task is not None:
            return self._read_task(tenant, scope.task.id)
        if filters.namespace is None or filters.key is None:
            return list(self._store.iterate_private(tenant, scope.agent_id, filters))
        address = WORKING.build_address(tenant, scope.agent_id, filters.namespace, filters.key)
        return list(self._store.get_many([address.item_key]).values())

    def _read_task(self, tenant: str, task_id: str) -> list[Entry]:
        for wait in _INDEX_WAITS:
            (task,) = self._tasks.get_many(tenant, {task_id})
            found = self._store.list_of_task(tenant, task_id)
            working = [each for each in found if each.policy.is_task_bound]
            if len(working) >= task.working_entries:
                return working
            time.sleep(wait)
        raise Unavailable("the index of this task lags behind; try again in a second")

    def _list_of_task(
        self, tenant: str, scope: PrivateScope, before: str | None, count: int
    ) -> list[Row]:
        """List the rows of a large task; inherited ones follow all others."""
        task_id = "" if scope.task is None else scope.task.id
        partition = TASK.build_partition(tenant, task=task_id)
        list_items = partial(self._store.list_by_creation, BY_TASK, partition)
        if not scope.is_inherited:
            return _list_private(list_items, WORKING.id_letter, before, count)
        own = None if before is None or not is_inherited_token(before) else before[1:]
        rows = _list_private(list_items, WORKING.id_letter, own, count)
        return [Row(mark_inherited(row.token)) for row in rows]

    def _list_last_counted(
        self, tenant: str, scope: PrivateScope, before: str | None, _count: int
    ) -> list[Row]:
        """List the entry that the agent's counters counted last: the index may not list it yet.

        An entry of a type that another source lists would hide that source's row.
        """
        if before:
            return []
        letters = {POLICIES[each].id_letter for each in scope.filters.memory_types}
        tokens = self._store.list_last_counted(tenant, scope.agent_id)

        def is_listed(token: str) -> bool:
            address, _ = entry_keys.parse_entry_id(tenant, entry_keys.parse_sort_token(token))
            return address.tier in letters

        return [Row(each) for each in filter(is_listed, tokens)]

    def of_namespaces(self, tenant: str, names: Iterable[str], filters: Filters) -> list[Source]:
        """Build the sources of semantic memory: index rows of namespaces, which never lag.

        The rows are those of the rarest tag of `tags`, else of each tag of `tags_any`, else all.
        """
        matches = build_row_matcher(filters, ROW_ATTRIBUTES)
        select = partial(self._select, filters)

        def list_rows(name: str, tag: str | None, before: str | None, count: int) -> list[Row]:
            now = self._clock()
            return [
                Row(
                    entry_keys.parse_index_row(row["sk"]),
                    may_match=row.get("entry_expires_at", now + 1) > now and matches(row),
                )
                for row in self._store.list_index_rows(tenant, name, tag, before, count)
            ]

        if filters.tags:
            tags = sorted(filters.tags)[:_COMPARED_TAGS]
            by_tag = ([partial(list_rows, name, tag) for tag in tags] for name in names)
            return [Source(_choose_rarest(lists), select) for lists in by_tag]
        any_tags: list[str | None] = [*sorted(filters.tags_any)] or [None]
        return [Source(partial(list_rows, name, tag), select) for name in names for tag in any_tags]

    def of_tenant(self, tenant: str, filters: Filters, select_readable: SelectNames) -> Source:
        """Build the source of a tenant's semantic memory, for any number of namespaces."""
        matches = build_row_matcher(filters, FILTER_ATTRIBUTES)
        of = BY_TENANT, SEMANTIC_ENTRY.build_index_partition(BY_TENANT, tenant)
        readable: dict[str, bool] = {}  # of the namespaces seen so far

        def list_rows(before: str | None, count: int) -> list[Row]:
            listed = self._store.list_by_creation(*of, SEMANTIC.id_letter, before, count)
            names = [row["namespace"] if matches(row) else None for row in listed]
            if unknown := {each for each in names if each is not None} - readable.keys():
                found = select_readable(unknown)
                readable.update({name: name in found for name in unknown})
            return [
                Row(
                    entry_keys.parse_creation_order(row[TYPE_ORDER_ATTRIBUTE]),
                    may_match=name is not None and readable[name],
                )
                for row, name in zip(listed, names, strict=True)
            ]

        return Source(list_rows, partial(self._select, filters))

    def of_key(self, tenant: str, names: Iterable[str], filters: Filters) -> Source:
        """Build the source of the entries that have the filters' key in these namespaces."""
        key = filters.key or ""
        keys = [SEMANTIC.build_address(tenant, "", name, key).item_key for name in names]
        return _build_source_of(self._select(filters, self._store.get_many(keys).values()))

    def _select(self, filters: Filters, entries: Iterable[Entry]) -> list[Entry]:
        return select_matching(entries, filters, self._clock())


def _build_source_of(entries: Iterable[Entry]) -> Source:
    """Build the source of entries that were read, and match."""
    rows = [Row(each.sort_token, each) for each in entries]
    rows.sort(key=attrgetter("token"), reverse=True)

    def list_rows(before: str | None, count: int) -> list[Row]:
        return [row for row in rows if before is None or row.token < before][:count]

    return Source(list_rows, lambda _: ())


def _list_private(
    list_items: Callable[[str, str | None, int], list[Item]],
    letter: str,
    before: str | None,
    count: int,
    may_match: Callable[[Item], bool] = lambda _: True,
) -> list[Row]:
    """List the rows of an index by creation; none among the inherited entries, which follow."""
    if before is not None and is_inherited_token(before):
        return []
    return [
        Row(entry_keys.parse_creation_order(row[CREATION_ATTRIBUTE]), may_match=may_match(row))
        for row in list_items(letter, before, count)
    ]


def _choose_rarest(lists: Sequence[_ListRows]) -> _ListRows:
    """Build a function that lists the rows of the tag that has the fewest.

    The first call lists rows of every tag. Later calls list only the tag whose rows reached
    furthest back. Example: two rows of tag a reach back to May, two of tag b to March, so b is
    rarer.
    """
    chosen = list(lists)

    def list_rows(before: str | None, count: int) -> list[Row]:
        found = run_parallel([partial(each, before, count) for each in chosen])
        ends = ["" if len(rows) < count else rows[-1].token for rows in found]
        rarest = ends.index(min(ends))
        chosen[:] = [chosen[rarest]]
        return found[rarest]

    return list_rows

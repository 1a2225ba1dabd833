"""What pages of queries are read from: index rows, and entries that are at hand."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from functions.entries.model import Entry, Filters, is_inherited_token, mark_inherited
from functions.entries.page_reader import Row, Select, Source
from functions.entries.rules import indexed_row_matches, matches_filters, row_matches_filters
from functions.entries.store import EntryStore
from functions.entries.tiers import POLICIES, WORKING
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.parallel import run_parallel
from functions.platform.schema import CREATION_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE

SelectNames = Callable[[Collection[str]], Collection[str]]
"""Selects the namespaces whose memory the caller may read."""
_COMPARED_TAGS = 5  # that a page looks for the rarest of


class Sources:
    """Builds the sources of pages."""

    def __init__(self, store: EntryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def of_entries(self, entries: Iterable[Entry]) -> Source:
        """Build the source of entries that are at hand, and match."""
        by_token = {each.sort_token: each for each in entries}
        tokens = sorted(by_token, reverse=True)

        def list_rows(before: str | None, count: int) -> list[Row]:
            return [Row(each) for each in tokens if before is None or each < before][:count]

        def select(present: Sequence[Entry]) -> Iterable[Entry]:
            ids = {each.id for each in present}
            return [each for each in by_token.values() if each.id in ids]

        return Source(list_rows, select)

    def of_namespaces(self, tenant: str, names: Iterable[str], filters: Filters) -> list[Source]:
        """Build the sources of semantic memory: each namespace's index rows.

        Those of the rarest of the tags that all have to be there, or of each tag of which one has.
        """
        select = partial(self._select, filters)
        if filters.tags:
            tags = sorted(filters.tags)[:_COMPARED_TAGS]
            return [
                Source(self._list_of_rarest(tenant, each, tags, filters), select) for each in names
            ]
        any_tags: list[str | None] = [*sorted(filters.tags_any)] or [None]
        return [
            Source(partial(self._list_index_rows, tenant, name, tag, filters), select)
            for name in names
            for tag in any_tags
        ]

    def _list_of_rarest(
        self, tenant: str, name: str, tags: Sequence[str], filters: Filters
    ) -> Callable[[str | None, int], list[Row]]:
        """Build what lists the rows of the tag that has the fewest of them.

        The first call lists rows of every tag. The next follow the one whose rows reach furthest.
        """
        chosen = list(tags)

        def list_rows(before: str | None, count: int) -> list[Row]:
            reads = [
                partial(self._list_index_rows, tenant, name, tag, filters, before, count)
                for tag in chosen
            ]
            lists = run_parallel(reads)
            ends = ["" if len(rows) < count else rows[-1].token for rows in lists]
            rarest = ends.index(min(ends))
            chosen[:] = [chosen[rarest]]
            return lists[rarest]

        return list_rows

    def _list_index_rows(
        self,
        tenant: str,
        name: str,
        tag: str | None,
        filters: Filters,
        before: str | None,
        count: int,
    ) -> list[Row]:
        now = self._clock()
        rows = self._store.list_index_rows(tenant, name, tag, before, count)
        return [
            Row(entry_keys.parse_index_row(row["sk"]), row_matches_filters(row, filters, now))
            for row in rows
        ]

    def of_tenant(self, tenant: str, filters: Filters, select_readable: SelectNames) -> Source:
        """Build the source of a tenant's semantic memory, in namespaces however many."""
        return Source(
            partial(self._list_of_tenant, tenant, filters, select_readable, {}),
            partial(self._select, filters),
        )

    def _list_of_tenant(
        self,
        tenant: str,
        filters: Filters,
        select_readable: SelectNames,
        readable: dict[str, bool],
        before: str | None,
        count: int,
    ) -> list[Row]:
        """List rows; which namespaces may be read is kept in `readable` for the next ones."""
        rows = self._store.list_of_tenant_by_creation(tenant, before, count)
        matching = [indexed_row_matches(row, filters) for row in rows]
        names = {row["namespace"] for row, matches in zip(rows, matching, strict=True) if matches}
        if unknown := names - readable.keys():
            found = select_readable(unknown)
            readable |= {name: name in found for name in unknown}
        return [
            Row(
                entry_keys.parse_creation_order(row[TYPE_ORDER_ATTRIBUTE]),
                matches and readable[row["namespace"]],
            )
            for row, matches in zip(rows, matching, strict=True)
        ]

    def _select(self, filters: Filters, entries: Sequence[Entry]) -> Iterable[Entry]:
        now = self._clock()
        return [each for each in entries if matches_filters(each, filters, now)]

    def of_agent(self, tenant: str, agent: str, filters: Filters, select: Select) -> list[Source]:
        """Build the sources of an agent's private memory: one for each of its tiers.

        One more is the last entry that the agent's counters know of, since the index may lag.
        """
        tiers = (each for each in POLICIES.values() if each.is_private)
        last = Source(partial(self._list_last_counted, tenant, agent), select)
        return [last] + [
            Source(partial(self._list_of_agent, tenant, agent, each.id_letter, filters), select)
            for each in tiers
            if filters.memory_type in (None, each.name)
        ]

    def _list_last_counted(
        self, tenant: str, agent: str, before: str | None, _count: int
    ) -> list[Row]:
        last = self._store.list_last_counted(tenant, agent) if before is None else []
        return list(map(Row, last))

    def _list_of_agent(
        self, tenant: str, agent: str, tier: str, filters: Filters, before: str | None, count: int
    ) -> list[Row]:
        if before is not None and is_inherited_token(before):
            return []
        rows = self._store.list_by_creation(tenant, agent, tier, before, count)
        return [
            Row(
                entry_keys.parse_creation_order(row[CREATION_ATTRIBUTE]),
                indexed_row_matches(row, filters),
            )
            for row in rows
        ]

    def of_task(self, tenant: str, task: str, select: Select, *, is_inherited: bool) -> Source:
        """Build the source of a task's working memory."""
        list_rows = self._list_inherited if is_inherited else self._list_of_task
        return Source(partial(list_rows, tenant, task), select)

    def _list_of_task(self, tenant: str, task: str, before: str | None, count: int) -> list[Row]:
        if before is not None and is_inherited_token(before):
            return []
        letter = WORKING.id_letter
        rows = self._store.list_of_task_by_creation(tenant, task, letter, before, count)
        return [Row(entry_keys.parse_creation_order(row[CREATION_ATTRIBUTE])) for row in rows]

    def _list_inherited(self, tenant: str, task: str, before: str | None, count: int) -> list[Row]:
        own = None if before is None or not is_inherited_token(before) else before[1:]
        rows = self._list_of_task(tenant, task, own, count)
        return [Row(mark_inherited(row.token)) for row in rows]

"""Query entries: what matches and may be read, newest first (RFC-0015 §4)."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from functions.authorization.rules import is_allowed
from functions.entries.capacity import AccessTracker
from functions.entries.model import Entry, Filters
from functions.entries.page_reader import PageReader, Source
from functions.entries.page_sources import Sources
from functions.entries.private_memory import PrivateMemory, Scope, assert_owner_known
from functions.entries.rules import matches_filters, merge_tag_lists, row_matches_filters
from functions.entries.store import EntryStore
from functions.entries.tiers import SEMANTIC
from functions.identity.model import Principal
from functions.namespaces.authority import READ_MEMORY
from functions.namespaces.service import Namespaces
from functions.platform import entry_keys
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.keys import decode_timestamp
from functions.platform.limits import DEFAULT_TASK_ENTRIES
from functions.platform.parallel import run_parallel
from functions.tasks.access import TaskAccess

_UNCHECKED = 10_000  # ms; by then, the change stream has brought the rows of a create
_MERGED_NAMESPACES = 50  # of which each is listed for a page; of more, the tenant's entries are


class QueryResult(NamedTuple):
    """What matches.

    Attributes:
        sort_tokens: those of all entries that match, newest first.
        loaded: the entries that had to be read anyway, by sort token.
    """

    sort_tokens: list[str]
    loaded: dict[str, Entry]

    @property
    def total(self) -> int:
        return len(self.sort_tokens)


class EntryPage(NamedTuple):
    """A page of what matches.

    Attributes:
        sort_tokens: those that the page covers, newest first.
        entries: what they name, without what was removed meanwhile.
        end: the sort token after which more may match; None if none do.
        total: how many match; None if they weren't counted.
    """

    sort_tokens: list[str]
    entries: list[Entry]
    end: str | None
    total: int | None


class Queries:
    """Queries private and semantic memory. What the caller may not read never matches."""

    def __init__(
        self,
        store: EntryStore,
        tasks: TaskAccess,
        namespaces: Namespaces,
        access_tracker: AccessTracker,
        clock: Clock,
    ) -> None:
        self._store = store
        self._namespaces = namespaces
        self._access_tracker = access_tracker
        self._clock = clock
        self._private = PrivateMemory(store, tasks, clock)
        self._pages = PageReader(store)
        self._sources = Sources(store, clock)

    def find(self, caller: Principal, filters: Filters) -> QueryResult:
        """Find all that matches.

        Raises:
            ValidationFailed: when the query needs an agent_id (RFC-0015 §4.1).
        """
        assert_owner_known(caller, filters)
        return self.find_own(caller, filters)

    def find_own(self, caller: Principal, filters: Filters) -> QueryResult:
        """Find all that matches; private memory is the caller's unless the filters say whose."""
        loaded: list[Entry] = []
        listed: list[str] = []
        if filters.memory_type != SEMANTIC.name:
            loaded += self._private.find(caller, filters)
        if _includes_semantic(filters):
            names = self.list_readable_namespaces(caller, filters)
            if filters.key is not None:
                loaded += self._read_key(caller.tenant, names, filters.key, filters)
            else:
                tokens = self._list_semantic(caller.tenant, names, filters)
                old, found = self._check_newest(caller.tenant, tokens)
                listed += old
                loaded += found
        by_token = {entry.sort_token: entry for entry in loaded}
        return QueryResult(sorted((*by_token, *listed), reverse=True), by_token)

    def find_page(self, caller: Principal, filters: Filters, wanted: WantedPage) -> EntryPage:
        """Find one page of what matches, by sort tokens; nothing is recorded as read.

        Raises:
            ValidationFailed: when the query needs an agent_id (RFC-0015 §4.1).
        """
        assert_owner_known(caller, filters)
        filters = filters._replace(includes_inherited=True)
        if not wanted.is_counted:
            return self._scan_page(caller, filters, wanted)
        limit, offset, after, _ = wanted
        found = self.find_own(caller, filters)
        tokens = found.sort_tokens
        start = offset
        if after is not None:  # tokens descend
            start = bisect_left(tokens, x=True, key=lambda token: token < after)
        entries = self.load_page(caller, found, start, limit)
        page, has_more = tokens[start : start + limit], start + limit < len(tokens)
        return EntryPage(page, entries, page[-1] if page and has_more else None, found.total)

    def _scan_page(self, caller: Principal, filters: Filters, wanted: WantedPage) -> EntryPage:
        """Find a page by reading newest first from where it begins, and no further than its end."""
        sources = self._build_sources(caller, filters)
        begin = _skip_later_entries(wanted.after, filters, self._clock())
        page = self._pages.read(caller.tenant, sources, wanted._replace(after=begin))
        tokens = [each.sort_token for each in page.elements]
        return EntryPage(tokens, page.elements, page.end, None)

    def read_page(
        self, caller: Principal, found: QueryResult, offset: int, limit: int
    ) -> list[Entry]:
        """Return a page and record that the caller read it; what was removed is left out."""
        entries = self.load_page(caller, found, offset, limit)
        self._access_tracker.record_reads(caller, entries)
        return entries

    def load_page(
        self, caller: Principal, found: QueryResult, offset: int, limit: int
    ) -> list[Entry]:
        """Return a page for other purposes than the caller's reading."""
        page = found.sort_tokens[offset : offset + limit]
        unread = [entry_keys.parse_sort_token(token) for token in page if token not in found.loaded]
        entries = found.loaded | self._load(caller.tenant, unread)
        now = self._clock()
        return [
            entries[token]
            for token in page
            if token in entries and not entries[token].is_expired(now)
        ]

    def _load(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Read the entries in these ids' slots; another incarnation has another sort token."""
        if not ids:
            return {}
        addresses = (entry_keys.parse_entry_id(tenant, entry_id) for entry_id in ids)
        found = self._store.get_many(address[0] for address in addresses if address is not None)
        return {entry.sort_token: entry for entry in found.values()}

    def _check_newest(
        self, tenant: str, tokens: Iterable[str]
    ) -> tuple[list[str], Iterable[Entry]]:
        """Read the newest of what index rows list: a row may be there before its entry.

        A create that was interrupted leaves rows until the change stream brings them, so those of
        the last seconds are believed only if their entries are there.

        Returns the tokens that need no reading, and the entries that are there.
        """
        newest = self._clock() - _UNCHECKED
        is_old = {token: decode_timestamp(token) < newest for token in tokens}
        unread = [entry_keys.parse_sort_token(token) for token, old in is_old.items() if not old]
        found = self._load(tenant, unread)
        present = [entry for token, entry in found.items() if token in is_old]
        return [token for token, old in is_old.items() if old], present

    def _build_sources(self, caller: Principal, filters: Filters) -> list[Source]:
        """Build what a page is read from: what is few is read at once, all else is listed."""
        scopes = (
            []
            if filters.memory_type == SEMANTIC.name
            else self._private.list_scopes(caller, filters)
        )
        sources = [each for scope in scopes for each in self._build_private_sources(caller, scope)]
        if not _includes_semantic(filters):
            return sources
        names = self._list_few_namespaces(caller, filters)
        if names is None:
            select_readable = partial(self._namespaces.select_readable, caller)
            return [*sources, self._sources.of_tenant(caller.tenant, filters, select_readable)]
        if filters.key is not None:
            found = self._read_key(caller.tenant, names, filters.key, filters)
            return [*sources, self._sources.of_entries(found)]
        return sources + self._sources.of_namespaces(caller.tenant, names, filters)

    def _build_private_sources(self, caller: Principal, scope: Scope) -> list[Source]:
        tenant, task, filters = caller.tenant, scope.task, scope.filters
        is_slot = filters.namespace is not None and filters.key is not None
        if is_slot or (task is not None and task.working_entries <= DEFAULT_TASK_ENTRIES):
            return [self._sources.of_entries(self._private.find_in_scope(caller, scope))]
        select = partial(self._private.select, caller, scope)
        if task is None:
            return self._sources.of_agent(tenant, scope.agent, filters, select)
        return [self._sources.of_task(tenant, task.id, select, is_inherited=scope.is_inherited)]

    def list_readable_namespaces(self, caller: Principal, filters: Filters) -> list[str]:
        """Return the namespaces that the filters name and whose memory the caller may read."""
        if filters.namespace is not None:
            found = self._namespaces.find(caller, filters.namespace)
            return [filters.namespace] if is_allowed(caller, READ_MEMORY, found) else []
        names = self._namespaces.list_readable(caller, filters.namespace_prefix)
        return [each.name for each in names]

    def _list_few_namespaces(self, caller: Principal, filters: Filters) -> list[str] | None:
        """Return the same; None where the filters name so many that each costs a page too much."""
        if filters.namespace is not None:
            return self.list_readable_namespaces(caller, filters)
        prefix = filters.namespace_prefix or ""
        return self._namespaces.list_few_readable(caller, prefix, _MERGED_NAMESPACES)

    def has_unreadable(self, caller: Principal, filters: Filters) -> bool:
        """Whether filters name memory that the caller may not read, some of it or all.

        It doesn't show whether anything is there: nobody learns others' keys by trying filters.
        """
        if filters.memory_type != SEMANTIC.name and self._private.has_unreadable(caller, filters):
            return True
        if not _includes_semantic(filters):
            return False
        if filters.namespace is not None:
            return not self.list_readable_namespaces(caller, filters)
        return self._namespaces.has_unreadable(caller, filters.namespace_prefix or "")

    def _read_key(self, tenant: str, names: list[str], key: str, filters: Filters) -> list[Entry]:
        found = self._store.get_many(
            SEMANTIC.build_address(tenant, "", name, key) for name in names
        )
        now = self._clock()
        return [entry for entry in found.values() if matches_filters(entry, filters, now)]

    def _list_semantic(self, tenant: str, names: list[str], filters: Filters) -> Iterable[str]:
        """Return the sort tokens of semantic entries that match, by the index rows of each tag."""
        tags: list[str | None] = [*sorted(filters.tags | filters.tags_any)] or [None]
        reads = [
            partial(self._store.list_index_rows, tenant, name, tag)
            for name in names
            for tag in tags
        ]
        now = self._clock()
        listed: dict[str | None, set[str]] = {tag: set() for tag in tags}
        for tag, rows in zip(tags * len(names), run_parallel(reads), strict=True):
            matching = (row for row in rows if row_matches_filters(row, filters, now))
            listed[tag].update(entry_keys.parse_index_row(row["sk"]) for row in matching)
        return merge_tag_lists(listed, filters)


def _skip_later_entries(after: str | None, filters: Filters, now: int) -> str | None:
    """Return where a page begins: no entry was updated before it was created."""
    updated_before = filters.updated_before
    if updated_before is None or updated_before >= now:
        return after
    bound = entry_keys.build_time_bound(max(updated_before, 0))
    return bound if after is None else min(after, bound)


def _includes_semantic(filters: Filters) -> bool:
    """Return whether semantic memory may match."""
    is_shared = filters.memory_type is None and filters.agent_id is None
    return (is_shared or filters.memory_type == SEMANTIC.name) and filters.pinned is None

"""Query entries: find matching entries that may be read, newest first (RFC-0015 §4)."""

from collections.abc import Iterator, Sequence
from functools import partial

from functions.authorization.rules import is_allowed
from functions.entries.authority import PrivateMemory, assert_owner_known
from functions.entries.filters import Filters
from functions.entries.model import Entry
from functions.entries.pages import PageReader, Source, Sources
from functions.entries.store import EntryStore
from functions.entries.tiers import SEMANTIC
from functions.identity.model import ADMIN, Principal
from functions.namespaces.authority import READ_MEMORY
from functions.namespaces.rules import find_owner
from functions.namespaces.service import Namespaces
from functions.platform import entry_keys
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.clock import Clock
from functions.tasks.access import TaskAccess

_MERGED_NAMESPACES = 50  # read one by one; for more, the tenant's entries are read


class Queries:
    """Queries private and semantic memory. Entries that the caller may not read never match."""

    def __init__(
        self, store: EntryStore, tasks: TaskAccess, namespaces: Namespaces, clock: Clock
    ) -> None:
        self._namespaces = namespaces
        self._clock = clock
        self._private = PrivateMemory(tasks)
        self._reader = PageReader(store)
        self._sources = Sources(store, tasks, clock)

    def find_page(
        self,
        caller: Principal,
        filters: Filters,
        wanted: WantedPage,
        *,
        includes_administered: bool = False,
        namespaces: Sequence[str] | None = None,
    ) -> BoundedPage[Entry]:
        """Find a page of matching entries; no access is recorded.

        Positions are sort tokens. A counted page has everything that was written before the query;
        else private memory may lag behind by milliseconds.

        Args:
            includes_administered: also lists entries of an agent's own namespaces that the filters
                name, which `memory.admin` deletes without reading. See `may_read`.
            namespaces: the result of `list_readable_namespaces` for the filters.

        Raises:
            ValidationFailed: the query needs an agent_id (RFC-0015 §4.1).
        """
        assert_owner_known(caller, filters)
        sources = self._list_sources(
            caller,
            filters,
            is_complete=wanted.is_counted,
            includes_administered=includes_administered,
            includes_inherited=True,
            namespaces=namespaces,
        )
        if not wanted.is_counted:
            wanted = wanted._replace(
                after=_skip_later_entries(wanted.after, filters, self._clock())
            )
        return self._reader.read_page(caller.tenant, sources, wanted)

    def iterate(
        self, caller: Principal, filters: Filters, *, includes_administered: bool = False
    ) -> Iterator[Entry]:
        """Find all matching entries, newest first; no access is recorded.

        Private memory is the caller's unless the filters name its owner.
        """
        sources = self._list_sources(
            caller, filters, is_complete=True, includes_administered=includes_administered
        )
        return self._reader.read_all(caller.tenant, sources)

    def _list_sources(
        self,
        caller: Principal,
        filters: Filters,
        *,
        is_complete: bool,
        includes_administered: bool,
        includes_inherited: bool = False,
        namespaces: Sequence[str] | None = None,
    ) -> list[Source]:
        types = filters.memory_types
        sources: list[Source] = []
        if types - {SEMANTIC.name}:
            for scope in self._private.list_scopes(
                caller, filters, includes_inherited=includes_inherited
            ):
                sources += self._sources.of_scope(caller, scope, is_complete=is_complete)
        if SEMANTIC.name in types:
            administered = self._list_administered(caller, filters) if includes_administered else []
            sources += self._list_semantic_sources(
                caller, filters, administered, namespaces, is_complete=is_complete
            )
        return sources

    def _list_semantic_sources(
        self,
        caller: Principal,
        filters: Filters,
        administered: list[str],
        readable: Sequence[str] | None,
        *,
        is_complete: bool,
    ) -> list[Source]:
        names: Sequence[str] | None
        if administered:
            names = administered
        elif readable is not None:
            names = readable if len(readable) <= _MERGED_NAMESPACES else None
        elif is_complete or filters.namespace is not None:
            names = self.list_readable_namespaces(caller, filters)
        else:
            prefix = filters.namespace_prefix or ""
            names = self._namespaces.list_few_readable(caller, prefix, _MERGED_NAMESPACES)
        if names is None:
            select_readable = partial(self._namespaces.select_readable, caller)
            return [self._sources.of_tenant(caller.tenant, filters, select_readable)]
        if filters.key is not None:
            return [self._sources.of_key(caller.tenant, names, filters)]
        return self._sources.of_namespaces(caller.tenant, names, filters)

    def _list_administered(self, caller: Principal, filters: Filters) -> list[str]:
        """List the namespaces of an agent that the filters name, for an administrator."""
        name = filters.namespace or filters.namespace_prefix or ""
        if ADMIN not in caller.permissions or not find_owner(name):
            return []
        if filters.namespace is not None:
            return [filters.namespace]
        return self._namespaces.list_shown(caller, name)

    def may_read(self, caller: Principal, entry: Entry) -> bool:
        """Tell whether a listed entry's value may be shown: not if it is only administered."""
        owner = None if entry.policy.is_private else find_owner(entry.namespace)
        if owner in (None, caller.id) or ADMIN not in caller.permissions:
            return True
        return is_allowed(caller, READ_MEMORY, self._namespaces.find(caller, entry.namespace))

    def list_readable_namespaces(self, caller: Principal, filters: Filters) -> list[str]:
        """Return the namespaces that the filters name and whose memory the caller may read.

        A namespace without configuration has no entries: the first entry configures it.
        """
        if filters.namespace is not None:
            found = self._namespaces.find(caller, filters.namespace)
            has_any = found.configured is not None and is_allowed(caller, READ_MEMORY, found)
            return [filters.namespace] if has_any else []
        return self._namespaces.list_readable(caller, filters.namespace_prefix)

    def has_unreadable(self, caller: Principal, filters: Filters) -> bool:
        """Tell whether filters name an owner, task, or namespace that the caller may not read.

        The answer doesn't depend on entries, and a prefix names nothing.
        """
        types = filters.memory_types
        if types - {SEMANTIC.name} and self._private.has_unreadable(caller, filters):
            return True
        if SEMANTIC.name not in types or filters.namespace is None:
            return False
        target = self._namespaces.find(caller, filters.namespace)
        return not is_allowed(caller, READ_MEMORY, target)


def _skip_later_entries(after: str | None, filters: Filters, now: int) -> str | None:
    """Return the begin of a page: no entry was updated before its creation."""
    updated_before = filters.updated_before
    if updated_before is None or updated_before >= now:
        return after
    return begin_before(after, updated_before)


def begin_before(after: str | None, time: int) -> str:
    """Return the begin of a page of entries that were created before a time (epoch ms)."""
    bound = entry_keys.build_time_bound(max(time, 0))
    return bound if after is None else min(after, bound)

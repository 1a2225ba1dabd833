"""Read earlier versions of living entries, restore and remove them (CONTRACT3 section 15).

The stream function stores a version when the next one is written. The history belongs to the entry:
the same callers may read it, and it is removed with the entry.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from functions.authorization.rules import authorize, is_allowed
from functions.entries.agent_store import AgentStore
from functions.entries.authority import WRITE_ENTRY
from functions.entries.change import Changes
from functions.entries.filters import Filters, select_matching
from functions.entries.history_store import HistoryStore, get_position
from functions.entries.model import Entry
from functions.entries.query import Queries, begin_before
from functions.entries.read import EntryReader
from functions.entries.requests import EntryChange
from functions.entries.store import EntryStore
from functions.entries.tiers import EPISODIC, SEMANTIC, WORKING, Tier
from functions.identity.model import Principal
from functions.namespaces.authority import READ_MEMORY
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.service import Namespaces
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.clock import Clock
from functions.platform.errors import (
    EntryNotFound,
    HistoryNotKept,
    Unavailable,
    UnreadableValue,
    ValidationFailed,
)
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import loads
from functions.platform.kept_history import find_kept_from
from functions.platform.limits import DEFAULT_HISTORY_DAYS
from functions.platform.parallel import run_parallel
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed

_LATEST = 60_000  # ms; the stream function has stored versions that were superseded before
_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)  # seconds; it usually takes one


@dataclass(eq=False)
class EntryHistory:
    """The history of a caller's entries."""

    _reader: EntryReader
    _changes: Changes
    _queries: Queries
    _entry_store: EntryStore
    _store: HistoryStore
    _agents: AgentStore
    _namespaces: Namespaces
    _clock: Clock

    def list_versions(
        self, caller: Principal, entry_id: str, wanted: WantedPage
    ) -> Iterator[Entry]:
        """List the kept versions of an entry, newest first, with the present one.

        Raises:
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not read it.
            Unavailable: the stream function has not stored the last version yet.
        """
        entry, namespace = self._reader.get_with_namespace(caller, entry_id)
        kept_from = self._find_kept_from(caller, entry.memory_type, entry.agent_id, namespace)
        self._await_stored(entry, kept_from)
        return self._iterate(entry, kept_from, wanted.after)

    def _iterate(self, entry: Entry, kept_from: int, after: str | None) -> Iterator[Entry]:
        if after is None:
            yield entry
        earlier = self._store.iterate(entry, None if after == _PRESENT else after)
        yield from (each for each in earlier if _is_kept(entry, each, kept_from))

    def get_version(self, caller: Principal, entry_id: str, version: int) -> Entry:
        """Return an entry as of a version.

        Raises:
            EntryNotFound: when there is no such entry, or it never had this version.
            HistoryNotKept: the version is too old, or was removed.
            AccessDenied, Unavailable: as for `list_versions`.
        """
        entry, namespace = self._reader.get_with_namespace(caller, entry_id)
        if version == entry.version:
            return entry
        if not 0 < version < entry.version:
            raise EntryNotFound(
                f"the entry has no version {version}; the present one is {entry.version}"
            )
        kept_from = self._find_kept_from(caller, entry.memory_type, entry.agent_id, namespace)
        self._await_stored(entry, kept_from)
        for each in self._iterate(entry, kept_from, _PRESENT):
            if each.version == version:
                return each
        raise HistoryNotKept(f"version {version} is not kept")

    def get_at(self, caller: Principal, entry_id: str, moment: int) -> Entry:
        """Return an entry as of a time (epoch ms).

        Raises:
            EntryNotFound: when there is no such entry, or it was created later.
            HistoryNotKept: its version of this time is not kept.
            AccessDenied, Unavailable: as for `list_versions`.
        """
        entry, namespace = self._reader.get_with_namespace(caller, entry_id)
        kept_from = self._find_kept_from(caller, entry.memory_type, entry.agent_id, namespace)
        found = self._find_at(entry, moment, kept_from)
        if found is not None:
            return found
        if moment < entry.created_at:
            raise EntryNotFound("the entry did not exist at this time; it was created later")
        raise HistoryNotKept("the version of this time is not kept; ask for a later time")

    def _find_at(self, entry: Entry, moment: int, kept_from: int) -> Entry | None:
        """Find the version of a time; None if it is not kept, or there was none."""
        if moment >= entry.updated_at:
            return entry
        if moment < max(entry.created_at, kept_from):
            return None
        self._await_stored(entry, kept_from)
        found = self._store.find_at(entry, moment)
        return found if found is not None and _is_kept(entry, found, kept_from) else None

    def find_page(
        self, caller: Principal, filters: Filters, wanted: WantedPage, moment: int
    ) -> BoundedPage[Entry]:
        """Query the existing entries of a namespace, or of an agent, as of a time.

        A page may be short: it omits entries that did not match at that time.

        Raises:
            ValidationFailed: the query names neither a namespace nor an agent's episodic memory.
            HistoryNotKept: the history does not reach back to this time.
        """
        place, namespace, tier = _select_place(filters), None, EPISODIC.name
        if place.memory_type == SEMANTIC.name:
            namespace = self._namespaces.find(caller, str(place.namespace))
            if not is_allowed(caller, READ_MEMORY, namespace):  # as if it weren't configured
                namespace = namespace._replace(configured=None)
        elif self._queries.has_unreadable(caller, place):  # as if it kept none
            tier = WORKING.name
        agent = place.agent_id or caller.id
        kept_from = self._find_kept_from(caller, tier, agent, namespace)
        if moment < min(kept_from, self._clock()):
            raise HistoryNotKept(
                "the history does not reach back to this time; ask for a later time"
            )
        after = begin_before(wanted.after, moment + 1) if moment < self._clock() else wanted.after
        wanted = WantedPage(wanted.limit, wanted.offset, after)
        page = self._queries.find_page(caller, place, wanted)
        found = run_parallel([partial(self._find_at, each, moment, 0) for each in page.elements])
        shown = select_matching((each for each in found if each is not None), filters, moment)
        return BoundedPage(shown, page.end)

    def _find_kept_from(
        self, caller: Principal, tier: Tier, agent: str, namespace: NamespaceTarget | None
    ) -> int:
        """Return the time since which a namespace or an agent keeps versions (epoch ms)."""
        now = self._clock()
        if namespace is not None:
            rule = None if namespace.configured is None else namespace.configured.history
            return find_kept_from(rule, DEFAULT_HISTORY_DAYS, now)
        if tier != EPISODIC.name:
            return now
        item = self._agents.get_item(caller.tenant, agent)
        return find_kept_from(item.get("episodic_history"), 0, now)

    def _await_stored(self, entry: Entry, kept_from: int) -> None:
        """Wait until the stream function has stored the version before the present one."""
        now = self._clock()
        is_expected = entry.version > (entry.history_since or 1) and entry.updated_at > kept_from
        if not is_expected or entry.updated_at < now - _LATEST:
            return
        for wait in _WAITS:
            latest = next(self._store.iterate(entry), None)
            if latest is not None and latest.version == entry.version - 1:
                return
            time.sleep(wait)
        raise Unavailable("the last change is being added to the history; try again in a second")

    def restore(
        self, caller: Principal, entry_id: str, version: int, to: int, token: RequestToken
    ) -> Entry:
        """Write the value of an earlier version as a new version.

        Args:
            to: the version whose value is written.

        Raises:
            HistoryNotKept: the version is not kept.
            UnreadableValue: the stored value was damaged.
            VersionMismatch, EntryNotFound, AccessDenied, CapacityExceeded: as for a change.
        """
        entry = self._reader.get_with_namespace(caller, entry_id)[0]
        is_repeated = token.matches(entry.request_token)
        earlier = entry if is_repeated else self.get_version(caller, entry_id, to)
        if earlier.unreadable:
            raise UnreadableValue
        change = EntryChange(value=loads(earlier.value))
        return self._changes.change(caller, entry_id, version, change, token)

    @retry_on(ConditionFailed, "others are changing this entry")
    def remove(self, caller: Principal, entry_id: str) -> None:
        """Remove the earlier versions of an entry; the entry stays.

        Raises:
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not write it.
        """
        target = self._reader.find_target(caller, entry_id)
        authorize(caller, WRITE_ENTRY, target)
        self._entry_store.remove_history(target.entry)
        self._store.remove(self._store.list_keys(target.entry.address, target.entry.nonce))


_PRESENT = "~"  # the position of the present version: sorts behind all others


def get_version_position(entry: Entry) -> str:
    """Return the position of a version in the list of an entry's versions."""
    if entry.superseded_at is None:
        return _PRESENT
    return get_position(entry.superseded_at, entry.version)


def _is_kept(entry: Entry, version: Entry, kept_from: int) -> bool:
    is_in_time = version.superseded_at is not None and version.superseded_at > kept_from
    return is_in_time and version.version >= (entry.history_since or 0)


def _select_place(filters: Filters) -> Filters:
    if filters.namespace is not None and filters.memory_type in (None, SEMANTIC.name):
        return Filters(memory_type=SEMANTIC.name, namespace=filters.namespace, key=filters.key)
    if filters.memory_type == EPISODIC.name:
        return Filters(
            agent_id=filters.agent_id,
            memory_type=EPISODIC.name,
            namespace=filters.namespace,
            namespace_prefix=filters.namespace_prefix,
            key=filters.key,
        )
    problem = "needs namespace, or memory_type=episodic with agent_id"
    raise ValidationFailed("as_of", problem)

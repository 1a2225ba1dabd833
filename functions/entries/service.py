"""Use cases on single entries: create, get, change, delete (RFC-0015 §1-§3; contract §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.entries import rules
from functions.entries.access import Access, assert_writes
from functions.entries.expiry import Expiry
from functions.entries.model import Entry
from functions.entries.plan import Plan
from functions.entries.recency import Recency
from functions.entries.refusals import mismatch
from functions.entries.store import EntryStore
from functions.entries.writer import EntryWriter, Replayed
from functions.entries.writes import Transition, quick_update
from functions.identity.model import Principal
from functions.namespaces.model import Namespace
from functions.namespaces.rules import allows
from functions.namespaces.service import Namespaces
from functions.namespaces.store import first_configuration, restricted_namespace
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import (
    AccessDenied,
    CapacityExceeded,
    EntryNotFound,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed
from functions.platform.task_keys import build_restrictions_key
from functions.platform.values import pack
from functions.platform.writes import Write

if TYPE_CHECKING:
    from functions.entries.requests import EntryChange, NewEntry

_QUICK = frozenset({"value", "tags"})


class Entries:
    """The memory of a caller's tenant, entry by entry."""

    def __init__(
        self,
        store: EntryStore,
        writer: EntryWriter,
        expiry: Expiry,
        access: Access,
        recency: Recency,
        namespaces: Namespaces,
        clock: Clock,
    ) -> None:
        self._store = store
        self._writer = writer
        self._expiry = expiry
        self._access = access
        self._recency = recency
        self._namespaces = namespaces
        self._clock = clock

    def create(self, caller: Principal, new: NewEntry, token: RequestToken) -> Entry:
        """Creates an entry in a free slot (RFC-0015 §1.2).

        Raises:
            EntryExists: the slot is taken.
            AccessDenied, TaskClosed, CapacityExceeded: as they say.
            ValidationFailed, ValueTooLarge: the body can't stand as it is.
        """
        entry = rules.new_entry(caller, new, self._clock(), token)
        along = self.namespace_along(caller, entry)
        step = Transition(None, entry, may_pin=rules.may_pin(new))
        try:
            return self.commit(caller, (step,), along, token)[0].either
        except Replayed as replayed:
            return replayed.entries[0]

    def commit(
        self,
        caller: Principal,
        steps: tuple[Transition, ...],
        along: dict[Key, Write],
        token: RequestToken,
    ) -> tuple[Transition, ...]:
        """Carries out steps in one transaction, freeing expired room where a limit is reached."""
        plan = Plan(caller, steps, self._clock(), along)
        try:
            return self._writer.commit(plan, token)
        except CapacityExceeded:
            if not self._expiry.make_room(caller, steps):
                raise
            return self._writer.commit(plan, token)

    def namespace_along(self, caller: Principal, entry: Entry) -> dict[Key, Write]:
        """What a new entry writes along: the first one of a namespace configures it.

        Raises:
            AccessDenied: the caller may not write in the entry's namespace.
        """
        if entry.tier != "semantic":
            return {}
        namespace = self._namespaces.find(caller, entry.namespace)
        if not allows(caller, namespace, "write"):
            raise AccessDenied("you may not write in this namespace")
        if namespace is not None:
            return {}
        write = first_configuration(caller.tenant, entry.namespace, caller.id, entry.created)
        return {write.key: write}

    def get(self, caller: Principal, entry_id: str) -> Entry:
        """One entry: one call for its owner, and for semantic memory.

        Raises:
            EntryNotFound: no live entry has this id in the caller's tenant.
            AccessDenied: it isn't the caller's to read.
        """
        slot, nonce = self._address(caller, entry_id)
        if slot.is_episodic and slot.is_owned_by(caller.id):
            return self._get_own_episodic(caller, slot, nonce)
        entry, namespace = self._read(caller, slot)
        live = self._live(entry, slot, nonce)
        self._access.assert_reads(caller, live, namespace)
        return live

    def _get_own_episodic(self, caller: Principal, slot: EntryAddress, nonce: str) -> Entry:
        """With the counters beside it, which tell whether the read is to be recorded."""
        own = entry_keys.build_agent_key(caller.tenant, caller.id)
        entry, (counters,) = self._store.get_with(slot.item_key, own)
        live = self._live(entry, slot, nonce)
        self._recency.note(caller, (live,), counters)
        return live

    def _address(self, caller: Principal, entry_id: str) -> tuple[EntryAddress, str]:
        address = entry_keys.parse_entry_id(caller.tenant, entry_id)
        if address is None:
            raise EntryNotFound
        return address

    def _read(self, caller: Principal, slot: EntryAddress) -> tuple[Entry | None, Namespace | None]:
        if not slot.is_semantic:
            return self._store.get(slot.item_key), None
        beside = slot.namespace_key, build_restrictions_key(caller.tenant, caller.id)
        entry, (item, restrictions) = self._store.get_with(slot.item_key, *beside)
        return entry, None if entry is None else restricted_namespace(
            caller, entry.namespace, item, restrictions
        )

    def _live(self, entry: Entry | None, slot: EntryAddress, nonce: str) -> Entry:
        if entry is None or (entry.slot, entry.nonce) != (slot, nonce):
            raise EntryNotFound
        if entry.expired(self._clock()):
            raise EntryNotFound
        return entry

    def change(
        self,
        caller: Principal,
        entry_id: str,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        """Changes an entry that is at `version` (RFC-0015 §3.2).

        The owner's change of value or tags is one call; what else must change along takes more.

        Raises:
            VersionMismatch: the entry is at another version.
            EntryNotFound, AccessDenied, CapacityExceeded: as they say.
            ValidationFailed, ValueTooLarge: the change can't stand as it is.
        """
        slot, nonce = self._address(caller, entry_id)
        if not change.model_fields_set:
            raise ValidationFailed("body", "names nothing to change")
        namespace = None
        if slot.is_owned_by(caller.id) and change.model_fields_set <= _QUICK:
            try:
                return self._quick_change(caller, slot, nonce, version, change, token)
            except ConditionFailed as failed:
                present = None if failed.item is None else self._store.entry(failed.item)
        else:
            present, namespace = self._read(caller, slot)
        live = self._live(present, slot, nonce)
        return self._change(caller, live, namespace, version, change, token)

    def _quick_change(
        self,
        caller: Principal,
        slot: EntryAddress,
        nonce: str,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        changes: Item = {"req": token.stored}
        kb = None
        if "value" in change.model_fields_set:
            value = rules.compact(change.value)
            changes["val"], kb = pack(value), rules.whole_kb(value)
        if "tags" in change.model_fields_set:
            changes["tags"] = list(dict.fromkeys(change.tags)) or None
        return self._store.update(
            quick_update(slot, nonce, version, caller.id, self._clock(), changes, kb)
        )

    def _change(
        self,
        caller: Principal,
        present: Entry,
        namespace: Namespace | None,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        if token.wrote(present.request):
            return present
        assert_writes(caller, present, namespace)
        if present.version != version:
            raise mismatch(present)
        changed = rules.changed_entry(caller, present, change, self._clock(), token)
        try:
            self.commit(caller, (Transition(present, changed),), {}, token)
        except Replayed as replayed:
            return replayed.entries[0]
        return changed

    def delete(self, caller: Principal, entry_id: str, version: int | None) -> None:
        """Deletes an entry at once and for good (RFC-0015 §9.3).

        Raises:
            VersionMismatch: `version` is given and isn't the present one.
            EntryNotFound, AccessDenied: as they say.
        """
        slot, nonce = self._address(caller, entry_id)
        backoff = Backoff("others keep changing this entry")
        while True:
            entry, namespace = self._read(caller, slot)
            present = self._live(entry, slot, nonce)
            assert_writes(caller, present, namespace)
            if version not in (None, present.version):
                raise mismatch(present)
            try:
                self.commit(caller, (Transition(present, None),), {}, RequestToken.fresh())
                return
            except VersionMismatch:
                backoff.wait()

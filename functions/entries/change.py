"""Change an entry at its version, by one write if nothing else has to change (RFC-0015 §3.2)."""

from dataclasses import dataclass
from typing import Any

from functions.authorization.rules import authorize
from functions.entries.authority import WRITE_ENTRY, EntryTarget
from functions.entries.model import TASK_LIFETIME, Entry, Transition
from functions.entries.read import EntryReader
from functions.entries.requests import EntryChange, NewEntry
from functions.entries.store import EntryStore
from functions.entries.tiers import POLICIES
from functions.entries.transaction_store import Transaction
from functions.entries.writer import EntryWriter
from functions.identity.model import Principal
from functions.namespaces.model import NamespaceTarget
from functions.platform.clock import Clock, compute_expiry
from functions.platform.entry_keys import parse_entry_id
from functions.platform.errors import ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_VALUE_BYTES
from functions.platform.sensitivity import ENCRYPTED
from functions.vectors.client_vector_store import count_numbers, pack_vector

_CHANGED_BY_ONE_WRITE = frozenset({"value", "tags"})
_HINT = "; keep bulk data elsewhere and store a reference"
_COPIED_FIELDS = frozenset(
    (
        *("namespace", "key", "value", "tags", "ttl", "pinned", "priority", "sensitivity"),
        *("occurred_at", "vector"),
    )
)


@dataclass(eq=False)
class Changes:
    """Changes entries of a caller's tenant."""

    _reader: EntryReader
    _store: EntryStore
    _writer: EntryWriter
    _clock: Clock

    def change(
        self,
        caller: Principal,
        entry_id: str,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        """Change an entry that is at `version` (RFC-0015 §3.2).

        The owner's change of value or tags is tried by one call; it fails if more has to change.

        Raises:
            VersionMismatch: when the entry is at another version.
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not write it.
            CapacityExceeded: when the change exceeds a limit.
            ValidationFailed: when no field is given, or fields contradict each other.
            ValueTooLarge: when the value has more than `limits.MAX_VALUE_BYTES`.
        """
        address, nonce = parse_entry_id(caller.tenant, entry_id)
        if not change.model_fields_set:
            raise ValidationFailed("body", "must have a field of the entry to change")
        namespace = None
        if address.is_owned_by(caller.id) and change.model_fields_set <= _CHANGED_BY_ONE_WRITE:
            changes = to_entry_fields(change) | {"request_token": token.stored}
            changed, found = self._store.change_own(
                address, nonce, version, caller, self._clock(), changes
            )
            if changed is not None:
                if POLICIES[changed.memory_type].has_vectors:
                    self._writer.changed.append(changed)
                return changed
        else:
            found, namespace = self._reader.read_slot(caller, address)
        entry = self._reader.require_live(found, address, nonce)
        return self._change(caller, entry, namespace, version, change, token)

    def _change(
        self,
        caller: Principal,
        entry: Entry,
        namespace: NamespaceTarget | None,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        authorize(caller, WRITE_ENTRY, EntryTarget(entry, namespace))
        if token.matches(entry.request_token):
            return self._writer.repeat(caller, entry)
        if entry.version != version:
            self._writer.refuse_version(caller, entry)
        now = self._clock()
        changed = apply_change(caller, entry, change, now, token)
        transition = Transition(entry, changed)
        return self._writer.commit(Transaction(caller, (transition,), now), token)[0]


def apply_change(
    caller: Principal, entry: Entry, change: EntryChange, now: int, token: RequestToken
) -> Entry:
    """Return the entry after a change."""
    given = to_entry_fields(change)
    entry.policy.assert_allows_fields(given)
    if change.model_fields_set & {"ttl", "expires_at"}:
        # a `ttl` counts from this write if it is new, or if a removed `expires_at` overrode it
        ttl = given.get("ttl", entry.ttl)
        given["expires_at"] = compute_entry_expiry(ttl, change.expires_at, entry.task_id, now)
    changed = entry._replace(
        version=entry.version + 1,
        updated_at=now,
        last_accessed_at=now,
        curated_by=None if entry.policy.is_private else caller.id,
        request_token=token.stored,
        actor_kind=caller.kind,
        **given,
    )
    return set_vector(changed, given, now)


def set_vector(entry: Entry, given: dict[str, Any], now: int) -> Entry:
    """Set or remove the vector that a request gives an entry."""
    if entry.sensitivity in ENCRYPTED:
        if entry.packed_vector is not None:
            raise ValidationFailed(
                "vector",
                "is not accepted for a sensitive value, since a vector reveals it",
            )
        return entry._replace(vector_at=None, vector_length=None)
    if "packed_vector" not in given:
        return entry
    if entry.packed_vector is None:
        return entry._replace(vector_at=None, vector_length=None)
    return entry._replace(vector_at=now, vector_length=count_numbers(entry.packed_vector))


def to_entry_fields(body: NewEntry | EntryChange) -> dict[str, Any]:
    """Return the given fields of a body that an entry takes unchanged."""
    given = {name: getattr(body, name) for name in body.model_fields_set & _COPIED_FIELDS}
    fields = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    if fields.get("tags"):
        fields["tags"] = tuple(dict.fromkeys(fields["tags"]))
    if "value" in fields:
        fields["value"] = dumps_checked(fields["value"], "value", MAX_VALUE_BYTES, _HINT)
        fields["value_bytes"] = len(fields["value"])
        fields["unreadable"] = None
    if "vector" in fields:
        vector = fields.pop("vector")
        fields["packed_vector"] = None if vector is None else pack_vector(vector)
    return fields


def compute_entry_expiry(
    ttl: str | None, expires_at: int | None, task: str | None, now: int
) -> int | None:
    if ttl == TASK_LIFETIME and task is None:
        raise ValidationFailed(
            "ttl", "task_lifetime needs scope.task_id; name a task, or give a duration such as P7D"
        )
    return compute_expiry(ttl, expires_at, now, TASK_LIFETIME)

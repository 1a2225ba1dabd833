"""Build the entry that a request creates or changes; pure, `now` is an argument."""

from typing import Any

from functions.entries.model import TASK_LIFETIME, Entry
from functions.entries.requests import EntryChange, NewEntry
from functions.entries.tiers import POLICIES
from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.errors import AccessDenied, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_VALUE_BYTES
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.ttl import compute_expiry
from functions.vectors.packing import count_numbers, pack_vector

_HINT = "; keep bulk data elsewhere and store a reference"
_COPIED_FIELDS = frozenset(
    {
        "namespace",
        "key",
        "value",
        "tags",
        "ttl",
        "pinned",
        "priority",
        "sensitivity",
        "occurred_at",
        "vector",
    }
)
_KEPT_BY_A_PUT = ("nonce", "agent_id", "created_by", "created_at", "history_since")


def build_entry(caller: Principal, new: NewEntry, now: int, token: RequestToken) -> Entry:
    """Return the entry that a request creates."""
    policy, agent = POLICIES[new.memory_type], new.agent_id or caller.id
    if policy.is_private and agent != caller.id:
        raise AccessDenied("working and episodic memory is written by its owner alone")
    given = {name: value for name, value in to_entry_fields(new).items() if value is not None}
    policy.assert_allows_fields(given)
    entry = Entry(
        address=policy.build_address(caller.tenant, agent, new.namespace, new.key),
        nonce=keys.create_nonce(now),
        memory_type=new.memory_type,
        agent_id=agent,
        version=1,
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
        created_by=caller.id,
        curated_by=None if policy.is_private else caller.id,
        task_id=new.task,
        intent_id=new.intent,
        expires_at=_compute_expiry(new.ttl, new.expires_at, new.task, now),
        request_token=token.stored,
        actor_kind=caller.kind,
        **given,
    )
    return _set_vector(entry, given, now)


def apply_change(
    caller: Principal, entry: Entry, change: EntryChange, now: int, token: RequestToken
) -> Entry:
    """Return the entry after a change."""
    given = to_entry_fields(change)
    entry.policy.assert_allows_fields(given)
    if change.model_fields_set & {"ttl", "expires_at"}:
        # a new `ttl` counts from this write, and so does one that a removed `expires_at` hid
        ttl = given.get("ttl", entry.ttl)
        given["expires_at"] = _compute_expiry(ttl, change.expires_at, entry.task_id, now)
    changed = entry._replace(
        version=entry.version + 1,
        updated_at=now,
        last_accessed_at=now,
        curated_by=None if entry.policy.is_private else caller.id,
        request_token=token.stored,
        actor_kind=caller.kind,
        **given,
    )
    return _set_vector(changed, given, now)


def _set_vector(entry: Entry, given: dict[str, Any], now: int) -> Entry:
    """Note the vector that a request gives an entry, or that there is none any more."""
    if entry.sensitivity in ENCRYPTED:
        if entry.packed_vector is not None:
            raise ValidationFailed("vector", "would reveal a value that is stored encrypted")
        return entry._replace(vector_at=None, vector_length=None)
    if "packed_vector" not in given:
        return entry
    if entry.packed_vector is None:
        return entry._replace(vector_at=None, vector_length=None)
    return entry._replace(vector_at=now, vector_length=count_numbers(entry.packed_vector))


def may_put_by_one_write(entry: Entry) -> bool:
    """Return whether a put of this entry needs at most one write.

    It does if no order of eviction, index row, vector or cipher depends on it.
    """
    return (
        entry.policy.is_task_bound
        and entry.sensitivity not in ENCRYPTED
        and entry.packed_vector is None
    )


def has_same_place(old: Entry, new: Entry) -> bool:
    """Return whether a put changes an entry, and doesn't replace it by another one."""
    return (old.memory_type, old.task_id, old.intent_id) == (
        new.memory_type,
        new.task_id,
        new.intent_id,
    )


def replace_fields(old: Entry, new: Entry) -> Entry:
    """Return an entry after a put of `new` in its place: all that a create sets is new."""
    kept = {name: getattr(old, name) for name in _KEPT_BY_A_PUT}
    return new._replace(version=old.version + 1, **kept)


def to_entry_fields(body: NewEntry | EntryChange) -> dict[str, Any]:
    """Return the given fields that an entry takes from a body as they are, as it holds them."""
    given = {name: getattr(body, name) for name in body.model_fields_set & _COPIED_FIELDS}
    fields = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    if "value" in fields:
        fields["value"] = dumps_checked(fields["value"], "value", MAX_VALUE_BYTES, _HINT)
        fields["value_bytes"] = len(fields["value"])
        fields["unreadable"] = None
    if "vector" in fields:
        vector = fields.pop("vector")
        fields["packed_vector"] = None if vector is None else pack_vector(vector)
    return fields


def is_pinned_by_settings(new: NewEntry) -> bool:
    """Return whether the agent's settings decide on pinning: the body doesn't (RFC-0015 §7)."""
    return POLICIES[new.memory_type].is_evictable and new.pinned is None


def _compute_expiry(
    ttl: str | None, expires_at: int | None, task: str | None, now: int
) -> int | None:
    if ttl == TASK_LIFETIME and task is None:
        raise ValidationFailed("ttl", "task_lifetime needs scope.task_id")
    return compute_expiry(ttl, expires_at, now, TASK_LIFETIME)

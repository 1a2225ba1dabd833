"""What an entry becomes when it is written; pure decisions, `now` is an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.entries.model import KINDS, Entry
from functions.identity.model import Principal
from functions.platform import entry_keys, keys
from functions.platform.errors import AccessDenied, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.jsontext import bounded_json
from functions.platform.lifetimes import expiry
from functions.platform.limits import MAX_VALUE_BYTES

if TYPE_CHECKING:
    from functions.entries.requests import EntryChange, NewEntry

TASK_LIFETIME = "task_lifetime"
_HINT = "; keep bulk data elsewhere and store a reference"


def compact(value: dict[str, Any]) -> bytes:
    """A value as compact UTF-8 JSON, which is how it is stored and measured.

    Raises:
        ValueTooLarge: over 65,536 bytes (RFC-0015 §1.3).
        ValidationFailed: it holds a number that no JSON reader could give back.
    """
    return bounded_json(value, "value", MAX_VALUE_BYTES, _HINT)


def whole_kb(value: bytes) -> int:
    """The size of a value that limits count: whole KB, rounded up."""
    return -(-len(value) // 1024)


def new_entry(caller: Principal, new: NewEntry, now: int, token: RequestToken) -> Entry:
    """The entry that a body asks for.

    Raises:
        ValidationFailed, ValueTooLarge: the body can't stand as it is.
        AccessDenied: it would be another agent's private memory.
    """
    agent = new.agent_id or caller.id
    semantic = new.memory_type == "semantic"
    if not semantic and agent != caller.id:
        raise AccessDenied("working and episodic memory is written by its owner alone")
    _assert_tier_fields(new)
    if new.ttl == TASK_LIFETIME and new.task is None:
        raise ValidationFailed("ttl", "task_lifetime needs scope.task_id")
    return Entry(
        slot=entry_keys.build_semantic_address(caller.tenant, new.namespace, new.key)
        if semantic
        else entry_keys.build_private_address(
            caller.tenant, agent, new.namespace, new.key, KINDS[new.memory_type]
        ),
        nonce=keys.create_nonce(now),
        tier=new.memory_type,
        agent=agent,
        namespace=new.namespace,
        key=new.key,
        value=(value := compact(new.value)),
        kb=whole_kb(value),
        version=1,
        created=now,
        updated=now,
        author=caller.id,
        curator=caller.id if semantic else None,
        tags=tuple(dict.fromkeys(new.tags)),
        task=new.task,
        intent=new.intent,
        ttl=new.ttl,
        expires=expiry(new.ttl, new.expires_at, now, TASK_LIFETIME),
        pinned=new.pinned or False,
        priority=new.priority or "normal",
        accessed=now,
        sensitivity=new.sensitivity,
        request=token.stored,
    )


def may_pin(new: NewEntry) -> bool:
    """Whether the agent's settings decide on pinning, since the body doesn't (RFC-0015 §7)."""
    return new.memory_type == "episodic" and new.pinned is None


def _assert_tier_fields(new: NewEntry) -> None:
    for field in ("pinned", "priority"):
        if new.memory_type != "episodic" and getattr(new, field) is not None:
            raise ValidationFailed(field, "is for episodic memory only")


def changed_entry(
    caller: Principal, entry: Entry, change: EntryChange, now: int, token: RequestToken
) -> Entry:
    """The entry after a change.

    Raises:
        ValidationFailed, ValueTooLarge: the change can't stand as it is.
    """
    given = change.model_fields_set
    if entry.tier != "episodic" and given & {"pinned", "priority"}:
        field = min(given & {"pinned", "priority"})
        raise ValidationFailed(field, "is for episodic memory only")
    return entry._replace(
        **{name: getattr(change, name) for name in given & {"pinned", "priority", "sensitivity"}},
        **_lifetime_change(entry, change, now),
        value=(value := compact(change.value) if "value" in given else entry.value),
        kb=whole_kb(value) if "value" in given else entry.kb,
        accessed=now,
        tags=tuple(dict.fromkeys(change.tags)) if "tags" in given else entry.tags,
        version=entry.version + 1,
        updated=now,
        curator=caller.id if entry.tier == "semantic" else None,
        request=token.stored,
    )


def _lifetime_change(entry: Entry, change: EntryChange, now: int) -> dict[str, Any]:
    """A new `ttl` counts from this write, and so does one that a removed `expires_at` hid."""
    if not change.model_fields_set & {"ttl", "expires_at"}:
        return {}
    ttl = change.ttl if "ttl" in change.model_fields_set else entry.ttl
    if ttl == TASK_LIFETIME and entry.task is None:
        raise ValidationFailed("ttl", "task_lifetime needs scope.task_id")
    return {"ttl": ttl, "expires": expiry(ttl, change.expires_at, now, TASK_LIFETIME)}

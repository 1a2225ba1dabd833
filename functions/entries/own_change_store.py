"""The one write by which an owner changes its entry, where nothing else has to change."""

from typing import Any

from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.entries.tiers import POLICIES_BY_ID_LETTER
from functions.identity.model import Principal
from functions.platform import entry_keys, request_context
from functions.platform.entry_keys import EntryAddress
from functions.platform.idempotency import KEY_BYTES
from functions.platform.items import Item
from functions.platform.json_text import compress
from functions.platform.schema import CREATION_ATTRIBUTE, EVICTION_ATTRIBUTE, TASK_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, build_set_expression, update

_UNCHANGED = "nonce = :nonce AND version = :version"
_OF_ANOTHER_REQUEST = (  # the first half is for moto, whose begins_with takes texts alone
    "request_token <> :request AND NOT begins_with(request_token, :request_key)"
)
_KEPT_BY_A_PUT = frozenset(
    (
        *("nonce", "version", "created_at", "created_by", "curated_by"),
        *("memory_type", "agent_id", "namespace", "key", "task_id", "intent_id", "value_bytes"),
        *("is_in_own_task", "is_fenced", "pinned", "priority", "last_accessed_at"),
        *(EVICTION_ATTRIBUTE, CREATION_ATTRIBUTE, TASK_ATTRIBUTE),
    )
)
"""The attributes that a put does not change, or whose values must be equal."""


class OwnChangeStore:
    """Changes entries by one write of their owner."""

    def __init__(self, table: Table, mapper: EntryMapper) -> None:
        self._table = table
        self._mapper = mapper

    def update(
        self,
        address: EntryAddress,
        nonce: str,
        version: int,
        caller: Principal,
        now: int,
        changes: dict[str, Any],
    ) -> tuple[Entry | None, Entry | None]:
        """Change value or tags of the owner's entry by one write, with no read before it.

        That is possible only where nothing else has to change: the entry isn't expired, fenced or
        encrypted, another request wrote it, its value keeps its size, so that no counter changes,
        and an episodic one can be evicted and has normal priority.

        Args:
            nonce: the incarnation to change.
            version: the version to change.
            changes: fields of the entry: `request_token`, and `tags`, or `value` and `value_bytes`.

        Returns:
            the changed entry, or None and what is in the slot instead, if anything.
        """
        write = _build_update(address, nonce, version, caller, now, changes)
        try:
            return self._mapper.to_entry(self._table.update(write)), None
        except ConditionFailed as failed:
            return None, self._mapper.find_entry(failed.item)

    def put(self, entry: Entry, version: int | None) -> tuple[Entry | None, Entry | None]:
        """Replace the fields of an owner's entry in the slot of `entry` by one write.

        That is possible only where nothing else has to change: an entry of the same tier, scope and
        size is there, that has neither expired nor is encrypted, and another request wrote it.

        Args:
            entry: working memory of its owner, with the fields to write.
            version: the version that must be there; None for any.

        Returns:
            the changed entry, or None and what is in the slot instead, if anything.
        """
        try:
            write = _build_put(self._mapper.to_item(entry), entry, version)
            return self._mapper.to_entry(self._table.update(write)), None
        except ConditionFailed as failed:
            return None, self._mapper.find_entry(failed.item)


def _build_put(item: Item, entry: Entry, version: int | None) -> Write:
    """Build the update that replaces all that a put sets, of an entry of the same size.

    Args:
        item: the entry's, as it is to be.
        version: the one that must be there; None for any.
    """
    attributes = {name: value for name, value in item.items() if name not in _KEPT_BY_A_PUT}
    expression, present = build_set_expression(attributes, "version = version + :one")
    conditions = [
        "memory_type = :memory_type AND agent_id = :agent AND value_bytes = :size",
        _OF_ANOTHER_REQUEST,
        "attribute_not_exists(data_key) AND attribute_not_exists(is_fenced)",
        "(attribute_not_exists(expires_at) OR expires_at > :now)",
    ]
    values: Item = {
        "memory_type": entry.memory_type,
        "agent": entry.agent_id,
        "size": entry.value_bytes,
    }
    for name, value in (
        ("task_id", entry.task_id),
        ("intent_id", entry.intent_id),
        ("version", version),
    ):
        if value is not None:
            conditions.append(f"{name} = :{name}")
            values[name] = value
        elif name != "version":
            conditions.append(f"attribute_not_exists({name})")
    values |= {"now": entry.updated_at, "one": 1} | present
    token = item["request_token"]
    values |= {"request": token, "request_key": token[:KEY_BYTES]}
    return update(entry.item_key, expression, " AND ".join(conditions), **values)


def _build_update(
    address: EntryAddress,
    nonce: str,
    version: int,
    caller: Principal,
    now: int,
    changes: dict[str, Any],
) -> Write:
    policy = POLICIES_BY_ID_LETTER[address.tier]
    attributes: Item = {
        "version": version + 1,
        "updated_at": now,
        "request_token": changes["request_token"],
        "traceparent": request_context.traceparent.get(),
        "actor_kind": caller.kind,
    }
    condition = (
        f"{_UNCHANGED} AND {_OF_ANOTHER_REQUEST} AND memory_type = :memory_type"
        " AND agent_id = :caller"
        " AND attribute_not_exists(data_key) AND attribute_not_exists(is_fenced)"
        " AND (attribute_not_exists(expires_at) OR expires_at > :now)"
    )
    values: Item = {"nonce": nonce, "memory_type": policy.name, "caller": caller.id, "now": now}
    values |= {
        "request": changes["request_token"],
        "request_key": changes["request_token"][:KEY_BYTES],
    }
    if "value" in changes:
        attributes["value"] = compress(changes["value"])
        condition += " AND value_bytes = :size"
        values["size"] = changes["value_bytes"]
    if "tags" in changes:
        attributes["tags"] = changes["tags"] or None
    if policy.is_evictable:
        attributes |= {
            "last_accessed_at": now,
            EVICTION_ATTRIBUTE: entry_keys.build_eviction_order("normal", now, nonce),
        }
        # "1#01hf7yat00#…" has the priority normal, which this update writes again. Another one
        # needs the entry: the update fails, and the caller takes the general way.
        condition += " AND begins_with(eviction_order, :rank)"
        values["rank"] = "1#"
    present = {name: value for name, value in attributes.items() if value is not None}
    settings = ", ".join(f"#{name} = :new_{name}" for name in present)
    removed = ", ".join(f"#{name}" for name in attributes.keys() - present.keys())
    expression = f"SET {settings}" + (f" REMOVE {removed}" if removed else "")
    values |= {f"new_{name}": value for name, value in present.items()}
    return update(address.item_key, expression, condition, version=version, **values)

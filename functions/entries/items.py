"""How entries look as items."""

from functions.entries.model import ENCRYPTED, KINDS, Entry
from functions.platform.encryption import Cipher
from functions.platform.items import Item
from functions.platform.keys import PRIORITIES, Slot, due_shard, moment_of, task_item
from functions.platform.lifetimes import ttl_seconds
from functions.platform.schema import (
    AGE_ATTRIBUTE,
    DUE_ATTRIBUTE,
    DUE_SHARD_ATTRIBUTE,
    EXPIRY_ATTRIBUTE,
    RECENCY_ATTRIBUTE,
    TASK_ATTRIBUTE,
    TTL_ATTRIBUTE,
)
from functions.platform.values import Values, pack


class EntryItems:
    """Turns entries into items and back.

    Without a cipher, sealed values stay closed: such an entry's value is empty, and it can be
    removed but not written.
    """

    def __init__(self, cipher: Cipher | None) -> None:
        self._values = Values(cipher)

    def item(self, entry: Entry) -> Item:
        """The item of an entry, without its key."""
        return self._value(entry) | {
            "nonce": entry.nonce,
            "version": entry.version,
            "tier": entry.tier,
            "agent_id": entry.agent,
            "namespace": entry.namespace,
            "ekey": entry.key,
            "tags": entry.tags or None,
            "task": entry.task,
            "intent": entry.intent,
            "ttl_rule": entry.ttl,
            EXPIRY_ATTRIBUTE: entry.expires,
            TTL_ATTRIBUTE: ttl_seconds(entry.expires),
            "pinned": entry.pinned or None,
            "priority": None if entry.priority == "normal" else entry.priority,
            "sens": entry.sensitivity,
            "kb": entry.kb,
            "created": entry.created,
            AGE_ATTRIBUTE: entry.created if entry.tier == "episodic" else None,
            "updated": entry.updated,
            "author": None if entry.author == entry.agent else entry.author,
            "curator": entry.curator,
            "req": entry.request,
            RECENCY_ATTRIBUTE: entry.recency,
            "accessed": entry.accessed if entry.tier == "episodic" else None,
            DUE_ATTRIBUTE: entry.expires,
            DUE_SHARD_ATTRIBUTE: None if entry.expires is None else due_shard(entry.place[0]),
            TASK_ATTRIBUTE: task_item(entry.slot.tenant, entry.task)[0]
            if entry.attached and entry.task is not None
            else None,
        }

    def _value(self, entry: Entry) -> Item:
        if entry.sensitivity not in ENCRYPTED:
            return {"val": pack(entry.value)}
        return self._values.sealed(entry.value, entry.slot.tenant, entry.id, entry.version)

    def entry(self, item: Item) -> Entry:
        """The entry of an item."""
        slot = _slot(item)
        agent: str = item["agent_id"]
        updated: int = item["updated"]
        return Entry(  # in the order of its fields: by their names takes twice as long
            slot,
            item["nonce"],
            item["tier"],
            agent,
            item["namespace"],
            item["ekey"],
            self._values.opened(item, slot.tenant, slot.id(item["nonce"])),
            item["kb"],
            item["version"],
            item["created"],
            updated,
            item.get("author", agent),
            item.get("curator"),
            tuple(item.get("tags", ())),
            item.get("task"),
            item.get("intent"),
            item.get("ttl_rule"),
            item.get(EXPIRY_ATTRIBUTE),
            item.get("pinned", False),
            item.get("priority", "normal"),
            item.get("sens"),
            item.get("accessed", updated),
            item.get("req"),
        )

    def victim(self, row: Item) -> Entry:
        """An episodic entry of which only a row of the index of recency is known."""
        rank, accessed, _ = row[RECENCY_ATTRIBUTE].split("#")
        return Entry(
            slot=_slot(row | {"tier": "episodic"}),
            nonce=row["nonce"],
            tier="episodic",
            agent=row["agent_id"],
            namespace="",
            key="",
            value=b"",
            kb=row["kb"],
            version=row["version"],
            created=moment_of(row["nonce"]),
            updated=moment_of(accessed),
            author=row["agent_id"],
            task=row.get("task"),
            ttl=row.get("ttl_rule"),
            priority=PRIORITIES[int(rank)],
            accessed=moment_of(accessed),
        )


def _slot(item: Item) -> Slot:
    tenant, _, owner = item["pk"].split("#")
    _, namespace, key = item["sk"].split("#")
    return Slot(tenant, KINDS[item["tier"]], owner, namespace, key)

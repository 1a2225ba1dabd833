"""How entries look as items."""

from functions.entries.model import ENCRYPTED, KINDS, Entry
from functions.platform.encryption import Cipher
from functions.platform.entry_keys import EntryAddress, parse_entry_key, parse_recency
from functions.platform.items import Item, Typed, binary, decode_item, encode_item
from functions.platform.keys import decode_timestamp, get_due_shard
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
from functions.platform.task_keys import build_task_key
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
            DUE_SHARD_ATTRIBUTE: None if entry.expires is None else get_due_shard(entry.place[0]),
            TASK_ATTRIBUTE: build_task_key(entry.slot.tenant, entry.task)[0]
            if entry.attached and entry.task is not None
            else None,
        }

    def _value(self, entry: Entry) -> Item:
        if entry.sensitivity not in ENCRYPTED:
            return {"val": pack(entry.value)}
        return self._values.sealed(entry.value, entry.slot.tenant, entry.id, entry.version)

    def entry(self, item: Typed) -> Entry:
        """The entry of an item, straight from its typed form: a list reads hundreds."""
        tier = item["tier"]["S"]
        slot = _slot(item["pk"]["S"], item["sk"]["S"], tier)
        agent = item["agent_id"]["S"]
        updated = int(item["updated"]["N"])
        return Entry(  # in the order of its fields: by their names takes twice as long
            slot,
            item["nonce"]["S"],
            tier,
            agent,
            item["namespace"]["S"],
            item["ekey"]["S"],
            self._opened(item, slot),
            int(item["kb"]["N"]),
            int(item["version"]["N"]),
            int(item["created"]["N"]),
            updated,
            item["author"]["S"] if "author" in item else agent,
            item["curator"]["S"] if "curator" in item else None,
            tuple([tag["S"] for tag in item["tags"]["L"]]) if "tags" in item else (),
            item["task"]["S"] if "task" in item else None,
            item["intent"]["S"] if "intent" in item else None,
            item["ttl_rule"]["S"] if "ttl_rule" in item else None,
            int(item[EXPIRY_ATTRIBUTE]["N"]) if EXPIRY_ATTRIBUTE in item else None,
            item["pinned"]["BOOL"] if "pinned" in item else False,
            item["priority"]["S"] if "priority" in item else "normal",
            item["sens"]["S"] if "sens" in item else None,
            int(item["accessed"]["N"]) if "accessed" in item else updated,
            binary(item["req"]["B"]) if "req" in item else None,
        )

    def _opened(self, item: Typed, slot: EntryAddress) -> bytes:
        if "S" in item["val"]:  # neither sealed nor compressed, as most are
            text: str = item["val"]["S"]
            return text.encode()
        return self._values.opened(
            decode_item(item), slot.tenant, slot.build_id(item["nonce"]["S"])
        )

    def entry_of(self, item: Item) -> Entry:
        """The same where the item was decoded on its way, as what stands in the way of a write."""
        return self.entry(encode_item(item))

    def victim(self, row: Item) -> Entry:
        """An episodic entry of which only a row of the index of recency is known."""
        priority, accessed = parse_recency(row[RECENCY_ATTRIBUTE])
        return Entry(
            slot=_slot(row["pk"], row["sk"], "episodic"),
            nonce=row["nonce"],
            tier="episodic",
            agent=row["agent_id"],
            namespace="",
            key="",
            value=b"",
            kb=row["kb"],
            version=row["version"],
            created=decode_timestamp(row["nonce"]),
            updated=accessed,
            author=row["agent_id"],
            task=row.get("task"),
            ttl=row.get("ttl_rule"),
            priority=priority,
            accessed=accessed,
        )


def _slot(partition: str, sort: str, tier: str) -> EntryAddress:
    return parse_entry_key((partition, sort), KINDS[tier])

"""Map entries to DynamoDB items and back. Every attribute of an entry is named here."""

from functions.entries.model import Entry
from functions.entries.tiers import EPISODIC, POLICIES, Tier
from functions.platform import entry_keys, request_context, schema
from functions.platform.encryption import Cipher
from functions.platform.items import Item
from functions.platform.json_text import compress
from functions.platform.keys import build_due_attributes, decode_timestamp
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.task_keys import build_task_key
from functions.platform.ttl import to_ttl_seconds
from functions.platform.values import ValueCodec

_NOBODY = ""  # whose an entry is that says it is another agent's than that of its partition
BARRIER = "barrier"
"""The attribute that keeps entries from being created in a slot without a transaction."""


def is_entry(item: Item) -> bool:
    """Return whether an item in a slot is an entry, and not a barrier alone."""
    return "nonce" in item or BARRIER not in item


class EntryMapper:
    """Maps entries to items and back.

    Without a cipher an encrypted value isn't decrypted: the entry's value is empty, so that the
    entry can be removed, but not written.
    """

    def __init__(self, cipher: Cipher | None) -> None:
        self._values = ValueCodec(cipher)

    def to_item(self, entry: Entry) -> Item:
        """Return the item of an entry, without its key; attributes that are None aren't stored.

        Raises:
            ValueError: when the value has to be encrypted and there is no cipher.
        """
        is_evictable = entry.policy.is_evictable
        is_of_task = entry.ends_with_task and entry.task is not None
        return self._to_value_attributes(entry) | {
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
            "pinned": entry.pinned or None,
            "priority": None if entry.priority == "normal" else entry.priority,
            "sensitivity": entry.sensitivity,
            "value_bytes": entry.size,
            "created": entry.created,
            "updated": entry.updated,
            "author": None if entry.author == entry.agent else entry.author,
            "curator": entry.curator,
            "actor_kind": entry.actor_kind,
            "request_token": entry.request,
            "traceparent": request_context.traceparent.get(),
            "fenced": entry.is_fenced or None,
            "own": entry.is_own or None,
            BARRIER: entry.has_barrier or None,
            "imported": entry.imported,
            "importer": entry.importer,
            "vector_at": entry.vector_at,
            "vector_length": entry.vector_length,
            "accessed": entry.accessed if is_evictable else None,
            schema.RECENCY_ATTRIBUTE: entry.eviction_order,
            schema.CREATION_ATTRIBUTE: entry_keys.build_creation_order(entry.sort_token)
            if entry.policy.is_private or is_of_task
            else None,
            schema.EXPIRY_ATTRIBUTE: entry.expires,
            schema.TTL_ATTRIBUTE: to_ttl_seconds(entry.expires),
            **build_due_attributes(entry.address.partition, entry.expires),
            schema.TASK_ATTRIBUTE: build_task_key(entry.address.tenant, entry.task)[0]
            if is_of_task and entry.task is not None
            else None,
            **({} if entry.policy.is_private else _build_tenant_order(entry)),
        }

    def _to_value_attributes(self, entry: Entry) -> Item:
        if entry.sensitivity not in ENCRYPTED:
            return {"val": compress(entry.value)}
        name = _name_value(entry.id, entry.task)
        return self._values.encrypt(entry.value, entry.address.tenant, name, entry.version)

    def find_entry(self, item: Item | None) -> Entry | None:
        """Return the entry of what is in a slot; None if there is nothing, or only a barrier."""
        return None if item is None or not is_entry(item) else self.to_entry(item)

    def to_entry(self, item: Item) -> Entry:
        get = item.get
        tier: Tier = item["tier"]
        agent: str = item["agent_id"]
        updated: int = item["updated"]
        nonce: str = item["nonce"]
        address = entry_keys.parse_entry_key((item["pk"], item["sk"]), POLICIES[tier].id_letter)
        value = item["val"]
        is_plain = isinstance(value, str)  # neither encrypted nor compressed, as most are
        return Entry(
            address=address,
            nonce=nonce,
            tier=tier,
            agent=agent if tier == "semantic" or address.is_owned_by(agent) else _NOBODY,
            namespace=item["namespace"],
            key=item["ekey"],
            value=value.encode()
            if is_plain
            else self._values.decode(
                item, address.tenant, _name_value(address.build_id(nonce), get("task"))
            ),
            size=item["value_bytes"],
            version=item["version"],
            created=item["created"],
            updated=updated,
            author=get("author", agent),
            curator=get("curator"),
            tags=tuple(get("tags", ())),
            task=get("task"),
            intent=get("intent"),
            ttl=get("ttl_rule"),
            expires=get(schema.EXPIRY_ATTRIBUTE),
            pinned=get("pinned", False),
            priority=get("priority", "normal"),
            sensitivity=get("sensitivity"),
            accessed=get("accessed", updated),
            request=get("request_token"),
            traceparent=get("traceparent"),
            actor_kind=item["actor_kind"],
            is_fenced=get("fenced", False),
            is_own=get("own", False),
            has_barrier=get(BARRIER, False),
            imported=get("imported"),
            importer=get("importer"),
            vector_at=get("vector_at"),
            vector_length=get("vector_length"),
        )


def _name_value(entry_id: str, task: str | None) -> str:
    """Name what a sensitive value is bound to: in another task's entry it can't be decrypted."""
    return entry_id if task is None else f"{entry_id}#{task}"


def to_eviction_candidate(row: Item) -> Entry:
    """Return an evictable entry with what a row of the eviction index says of it: no value."""
    priority, accessed = entry_keys.parse_recency(row[schema.RECENCY_ATTRIBUTE])
    return Entry(
        address=entry_keys.parse_entry_key((row["pk"], row["sk"]), EPISODIC.id_letter),
        nonce=row["nonce"],
        tier=EPISODIC.name,
        agent=row["agent_id"],
        namespace="",
        key="",
        value=b"",
        size=row["value_bytes"],
        version=row["version"],
        created=decode_timestamp(row["nonce"]),
        updated=accessed,
        author=row["agent_id"],
        task=row.get("task"),
        ttl=row.get("ttl_rule"),
        priority=priority,
        accessed=accessed,
    )


def _build_tenant_order(entry: Entry) -> Item:
    """Build what lists a semantic entry among all of its tenant."""
    return {
        schema.TENANT_ATTRIBUTE: entry_keys.build_tenant_entries_partition(entry.address.tenant),
        schema.TYPE_ORDER_ATTRIBUTE: entry_keys.build_creation_order(entry.sort_token),
    }

"""Map entries to DynamoDB items and back. Every attribute of an entry is named here."""

from functions.entries.eviction import parse_eviction_order
from functions.entries.model import Entry
from functions.entries.tiers import EPISODIC, POLICIES, Tier
from functions.platform import entry_keys, item_types, request_context, schema
from functions.platform.clock import to_ttl_seconds
from functions.platform.encryption import Cipher
from functions.platform.errors import UnreadableValue
from functions.platform.items import Item
from functions.platform.json_text import compress
from functions.platform.keys import build_due_attributes, decode_timestamp, get_tenant
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.values import UNREADABLE, ValueCodec, read_text

_HISTORY_ATTRIBUTES = (
    *("nonce", "version", "memory_type", "agent_id", "namespace", "key", "tags", "value"),
    *("data_key", "value_bytes", "sensitivity", "task_id", "intent_id"),
    *("ttl", "expires_at", "pinned", "priority", "created_at", "updated_at", "created_by"),
    *("curated_by", "actor_kind", "occurred_at"),
)
_NOBODY = ""  # the owner of an entry that was moved into another agent's partition


class EntryMapper:
    """Maps entries to items and back.

    Without a cipher an encrypted value isn't decrypted: the entry's value is empty, so that the
    entry can be removed, but not written.
    """

    def __init__(self, cipher: Cipher | None) -> None:
        self._values = ValueCodec(cipher)

    def to_item(self, entry: Entry) -> Item:
        """Return the item of an entry, without its key; attributes that are None aren't stored."""
        is_evictable = entry.policy.is_evictable
        is_of_task = entry.task_id is not None and entry.ends_with_task
        creation_order = entry_keys.build_creation_order(entry.sort_token)
        if entry.unreadable:
            raise UnreadableValue
        value: Item = {"value": compress(entry.value)}
        if entry.sensitivity in ENCRYPTED:
            name = _name_value(entry.id, entry.task_id)
            value = self._values.encrypt(entry.value, entry.address.tenant, name, entry.version)
        return value | {
            "nonce": entry.nonce,
            "version": entry.version,
            "memory_type": entry.memory_type,
            "agent_id": entry.agent_id,
            "namespace": entry.namespace,
            "key": entry.key,
            "tags": entry.tags or None,
            "task_id": entry.task_id,
            "intent_id": entry.intent_id,
            "ttl": entry.ttl,
            "pinned": entry.pinned if is_evictable else None,
            "priority": None if entry.priority == "normal" else entry.priority,
            "sensitivity": entry.sensitivity,
            "value_bytes": entry.value_bytes,
            "created_at": entry.created_at,
            "updated_at": entry.updated_at,
            "created_by": None if entry.created_by == entry.agent_id else entry.created_by,
            "curated_by": entry.curated_by,
            "actor_kind": entry.actor_kind,
            "request_token": entry.request_token,
            "traceparent": request_context.traceparent.get(),
            "is_fenced": entry.is_fenced or None,
            "is_in_own_task": entry.is_in_own_task or None,
            "occurred_at": entry.occurred_at,
            "history_since": entry.history_since,
            "vector_at": entry.vector_at,
            "vector_length": entry.vector_length,
            "last_accessed_at": entry.last_accessed_at if is_evictable else None,
            schema.EVICTION_ATTRIBUTE: entry.eviction_order,
            schema.CREATION_ATTRIBUTE: creation_order
            if entry.policy.is_private or is_of_task
            else None,
            "expires_at": entry.expires_at,
            schema.EXPIRY_ATTRIBUTE: entry.expires_at,
            schema.TTL_ATTRIBUTE: to_ttl_seconds(entry.expires_at),
            **build_due_attributes(entry.item_key[0], entry.expires_at),
            schema.TASK_ATTRIBUTE: item_types.TASK.build_partition(
                entry.address.tenant, task=entry.task_id
            )
            if is_of_task and entry.task_id is not None
            else None,
            schema.TENANT_ATTRIBUTE: None
            if entry.policy.is_private
            else item_types.SEMANTIC_ENTRY.build_index_partition(
                schema.BY_TENANT, entry.address.tenant
            ),
            schema.TYPE_ORDER_ATTRIBUTE: None if entry.policy.is_private else creation_order,
        }

    def _find_text(self, item: Item, entry_id: str) -> bytes | None:
        """Decode an encrypted or compressed value; None if it was damaged or moved."""
        name = _name_value(entry_id, item.get("task_id"))
        tenant, version = get_tenant(item["pk"]), item["version"]
        text = read_text(item, lambda: self._values.decode(item, tenant, name, version))
        return None if text is UNREADABLE else text

    def find_entry(self, item: Item | None) -> Entry | None:
        """Return the entry in a slot; None if the slot is free."""
        return None if item is None else self.to_entry(item)

    def to_entry(self, item: Item) -> Entry:
        get = item.get
        tier: Tier = item["memory_type"]
        agent: str = item["agent_id"]
        updated: int = item["updated_at"]
        nonce: str = item["nonce"]
        address = entry_keys.parse_entry_key((item["pk"], item["sk"]), POLICIES[tier].id_letter)
        value = item["value"]
        is_plain = isinstance(value, str)  # neither encrypted nor compressed, as most are
        text = value.encode() if is_plain else self._find_text(item, address.build_id(nonce))
        return Entry(
            address=address,
            nonce=nonce,
            memory_type=tier,
            # An item whose owner isn't that of its partition was moved there: no agent owns it.
            agent_id=agent if tier == "semantic" or address.is_owned_by(agent) else _NOBODY,
            namespace=item["namespace"],
            key=item["key"],
            value=text or b"",
            value_bytes=item["value_bytes"],
            version=item["version"],
            created_at=item["created_at"],
            updated_at=updated,
            created_by=get("created_by", agent),
            curated_by=get("curated_by"),
            tags=tuple(get("tags", ())),
            task_id=get("task_id"),
            intent_id=get("intent_id"),
            ttl=get("ttl"),
            expires_at=get("expires_at"),
            pinned=get("pinned", False),
            priority=get("priority", "normal"),
            sensitivity=get("sensitivity"),
            last_accessed_at=get("last_accessed_at", updated),
            request_token=get("request_token"),
            traceparent=get("traceparent"),
            actor_kind=item["actor_kind"],
            is_fenced=get("is_fenced", False),
            is_in_own_task=get("is_in_own_task", False),
            occurred_at=get("occurred_at"),
            history_since=get("history_since"),
            superseded_at=get("superseded_at"),
            unreadable=True if text is None else None,
            vector_at=get("vector_at"),
            vector_length=get("vector_length"),
        )


def select_history_attributes(item: Item) -> Item:
    """Select the attributes of an entry that the history keeps; sensitive values stay encrypted."""
    return {name: item[name] for name in _HISTORY_ATTRIBUTES if name in item}


def _name_value(entry_id: str, task: str | None) -> str:
    """Build a sensitive value's context: in another task's entry it can't be decrypted."""
    return entry_id if task is None else f"{entry_id}#{task}"


def to_eviction_candidate(row: Item) -> Entry:
    """Build an evictable entry from a row of the eviction index, without its value."""
    priority, accessed = parse_eviction_order(row[schema.EVICTION_ATTRIBUTE])
    return Entry(
        address=entry_keys.parse_entry_key((row["pk"], row["sk"]), EPISODIC.id_letter),
        nonce=row["nonce"],
        memory_type=EPISODIC.name,
        agent_id=row["agent_id"],
        namespace="",
        key="",
        value=b"",
        value_bytes=row["value_bytes"],
        version=row["version"],
        created_at=decode_timestamp(row["nonce"]),
        updated_at=accessed,
        created_by=row["agent_id"],
        task_id=row.get("task_id"),
        ttl=row.get("ttl"),
        priority=priority,
        last_accessed_at=accessed,
    )

"""Every key of the table, and the entry ids that hold them. Nothing else builds keys.

Names are hashed piece by piece, each under its own kind, so no separator in a name can make two
names meet; the tenant stands in clear at the front of every partition and its alphabet has no `#`.
"""

import re
import secrets
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, NamedTuple
from zlib import crc32

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: sorts as the numbers do
_OWNER, _NAMESPACE, _KEY, _TIME, _LUCK = 13, 6, 13, 10, 6  # characters of 5 bits
_ENTRY_ID = re.compile(
    rf"mem_([wen])([{_ALPHABET}]{{{_OWNER}}})([{_ALPHABET}]{{{_NAMESPACE}}})"
    rf"([{_ALPHABET}]{{{_KEY}}})([{_ALPHABET}]{{{_TIME + _LUCK}}})"
)

PRIORITIES: tuple[Literal["low"], Literal["normal"], Literal["high"]] = ("low", "normal", "high")
_DUE_SHARDS = 8
TASK_SORT, SNAPSHOT_PREFIX, ANNOUNCEMENT_PREFIX = "t", "s#", "m#"

TENANT_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
Key = tuple[str, str]


def _base32(number: int, characters: int) -> str:
    return "".join(_ALPHABET[number >> 5 * i & 31] for i in reversed(range(characters)))


@lru_cache(maxsize=4096)
def digest(kind: str, name: str, characters: int = _OWNER) -> str:
    """A name as it stands in keys: 65 bits by default, its own for each kind of name."""
    hashed = blake2b(name.encode(), digest_size=16, person=kind.encode()).digest()
    return _base32(int.from_bytes(hashed) >> 128 - 5 * characters, characters)


def moment(now: int) -> str:
    """A time (epoch ms) as text that sorts by it."""
    return _base32(now, _TIME)


def moment_of(text: str) -> int:
    """The time (epoch ms) that a nonce or a recency begins with."""
    passed = 0
    for character in text[:_TIME]:
        passed = passed << 5 | _ALPHABET.index(character)
    return passed


def new_nonce(now: int) -> str:
    """What tells one incarnation of a slot from the next: the time, and 30 bits of luck."""
    return moment(now) + _base32(secrets.randbits(5 * _LUCK), _LUCK)


def id_of(prefix: str, seed: bytes) -> str:
    """An id of the seed's form, `task_…` or `evt_…`; the same for the same 16 bytes."""
    return f"{prefix}_{_base32(int.from_bytes(seed), 26)}"


class Slot(NamedTuple):
    """Where an entry stands: its natural key (RFC-0015 §1.2), hashed."""

    tenant: str
    kind: str  # the tier: "w" and "e" stand in an agent's partition, "n" in a namespace's
    owner: str
    namespace: str
    key: str

    @property
    def partition(self) -> str:
        return f"{self.tenant}#{'n' if self.kind == 'n' else 'a'}#{self.owner}"

    @property
    def item(self) -> Key:
        return self.partition, f"e#{self.namespace}#{self.key}"

    @property
    def semantic(self) -> bool:
        return self.kind == "n"

    @property
    def episodic(self) -> bool:
        return self.kind == "e"

    def id(self, nonce: str) -> str:
        """The id of the incarnation with this nonce."""
        return f"mem_{self.kind}{self.owner}{self.namespace}{self.key}{nonce}"

    def owned_by(self, agent: str) -> bool:
        """Whether this is in the private memory of `agent`."""
        return self.kind != "n" and self.owner == agent_digest(agent)


def private_slot(tenant: str, agent: str, namespace: str, key: str, kind: str = "w") -> Slot:
    """The slot that working ("w") and episodic ("e") memory share: one item, whatever the kind."""
    return Slot(tenant, kind, agent_digest(agent), _namespace(namespace), _key(namespace, key))


def semantic_slot(tenant: str, namespace: str, key: str) -> Slot:
    """The slot of semantic memory, which has no owner but the namespace."""
    owner = digest("namespace", namespace)
    return Slot(tenant, "n", owner, _namespace(namespace), _key(namespace, key))


def parse_entry_id(tenant: str, entry_id: str) -> tuple[Slot, str] | None:
    """The slot and nonce that an id stands for in this tenant; None if it is no id of ours."""
    match = _ENTRY_ID.fullmatch(entry_id)
    if match is None:
        return None
    kind, owner, namespace, key, nonce = match.groups()
    return Slot(tenant, kind, owner, namespace, key), nonce


def _namespace(namespace: str) -> str:
    return digest("ns", namespace, _NAMESPACE)


def _key(namespace: str, key: str) -> str:
    """Namespace and key together: the namespace's own digest is short, and only groups."""
    return digest("key", f"{len(namespace)}:{namespace}{key}", _KEY)


def agent_digest(agent: str) -> str:
    """An agent's id as it stands in partitions and attribute names."""
    return digest("agent", agent)


def agent_partition(tenant: str, agent: str) -> str:
    """The partition of an agent's private memory."""
    return f"{tenant}#a#{agent_digest(agent)}"


def namespace_partition(tenant: str, namespace: str) -> str:
    """The partition of a namespace's semantic memory."""
    return f"{tenant}#n#{digest('namespace', namespace)}"


def entry_prefix(namespace: str | None) -> str:
    """What the sort keys of the entries (of one namespace) in a partition begin with."""
    return "e#" if namespace is None else f"e#{_namespace(namespace)}#"


def notice_item(slot: Slot, nonce: str) -> Key:
    """The notice that says why, and by whom, an incarnation of a slot was removed."""
    return slot.partition, f"z#{slot.id(nonce)}"


def due_shard(partition: str) -> str:
    """Which shard of the index of due things a partition's items stand in."""
    return str(crc32(partition.encode()) % _DUE_SHARDS)


DUE_SHARDS = tuple(str(number) for number in range(_DUE_SHARDS))


def agent_item(tenant: str, agent: str) -> Key:
    """The item of an agent's counters and settings."""
    return agent_partition(tenant, agent), "a"


def index_prefix(tag: str | None) -> str:
    """What the sort keys of the index rows of a tag, or of all entries, begin with."""
    return "x##" if tag is None else f"x#{digest('tag', tag)}#"


def order_of(slot: Slot, nonce: str) -> str:
    """What an entry sorts by in every list: creation, then id."""
    return f"{nonce[:_TIME]}#{slot.id(nonce)}"


def id_of_order(order: str) -> str:
    """The entry id that an order ends with."""
    return order.rpartition("#")[2]


def index_row(slot: Slot, nonce: str, tag: str | None) -> Key:
    """The index row of a semantic entry under a tag."""
    return slot.partition, f"{index_prefix(tag)}{order_of(slot, nonce)}"


def recency(priority: Literal["low", "normal", "high"], accessed: int, nonce: str) -> str:
    """What an episodic entry sorts by in eviction: what goes first comes first."""
    return f"{PRIORITIES.index(priority)}#{moment(accessed)}#{nonce}"


def order_of_row(sort: str) -> str:
    """What an index row sorts by, whatever its tag."""
    return sort.split("#", 2)[2]


def namespace_item(tenant: str, namespace: str) -> Key:
    """The item of a namespace's permissions; all of a tenant's stand in one partition."""
    return f"{tenant}#ns", f"n#{digest('namespace', namespace)}"


def namespace_items(tenant: str) -> tuple[str, str]:
    """The partition of a tenant's namespaces, and what their sort keys begin with."""
    return f"{tenant}#ns", "n#"


def namespace_item_of(slot: Slot) -> Key:
    """The same, for the namespace of a semantic slot."""
    return f"{slot.tenant}#ns", f"n#{slot.owner}"


def task_item(tenant: str, task: str) -> Key:
    """A task's item."""
    return f"{tenant}#t#{digest('task', task)}", TASK_SORT


def tenant_of(partition: str) -> str:
    """The tenant that a partition belongs to."""
    return partition.partition("#")[0]


def task_set_item(tenant: str, agent: str) -> Key:
    """The item of the tasks in which an agent is the assignee or holds memory."""
    return agent_partition(tenant, agent), "tasks"


def snapshot_part(tenant: str, task: str, agent: str, nonce: str) -> Key:
    """A part of an agent's snapshot of a task that has ended."""
    return task_item(tenant, task)[0], f"{SNAPSHOT_PREFIX}{agent_digest(agent)}#{nonce}"


def announcement_item(tenant: str, task: str, event: str) -> Key:
    """What tells the change stream that a task's memory was archived in an event."""
    return task_item(tenant, task)[0], f"{ANNOUNCEMENT_PREFIX}{event}"


def intent_item(tenant: str, intent: str) -> Key:
    """An intent's item: owner, participants, access list."""
    return f"{tenant}#i#{digest('intent', intent)}", "i"


def intent_task_rows(tenant: str, intent: str) -> tuple[str, str]:
    """The partition of an intent's tasks, and what their rows' sort keys begin with."""
    return intent_item(tenant, intent)[0], "t#"


def intent_task_row(tenant: str, intent: str, task: str) -> Key:
    """The row by which an intent lists a task."""
    return intent_item(tenant, intent)[0], f"t#{digest('task', task)}"

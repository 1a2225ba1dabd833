"""Keys of entries, agents and namespaces, and the ids of entries.

An entry's id contains its whole key, so reading by id and by natural key is the same call (decision
2).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from functions.platform import item_types
from functions.platform.errors import EntryNotFound
from functions.platform.keys import (
    BASE32,
    HASH_CHARACTERS,
    HIGHEST,
    SUFFIX_CHARACTERS,
    TIME_CHARACTERS,
    Digest,
    Key,
    encode_timestamp,
    hash_agent,
    hash_name,
    hash_namespace,
)

_NAMESPACE_CHARACTERS = 6
_NONCE_CHARACTERS = TIME_CHARACTERS + SUFFIX_CHARACTERS
_ID_TIER = len("mem_")  # the position of the tier's letter in an entry's id
_ENTRY_ID = re.compile(
    rf"mem_([wen])([{BASE32}]{{{HASH_CHARACTERS}}})([{BASE32}]{{{_NAMESPACE_CHARACTERS}}})"
    rf"([{BASE32}]{{{HASH_CHARACTERS}}})([{BASE32}]{{{TIME_CHARACTERS + SUFFIX_CHARACTERS}}})"
)
_NONCE = re.compile(rf"[{BASE32}]{{{_NONCE_CHARACTERS}}}")


class EntryAddress(NamedTuple):
    """An entry's natural key (RFC-0015 §1.2), hashed.

    Attributes:
        tier: "w", "e" or "n": working, episodic or semantic.
        owner: the agent's hash, or the namespace's in semantic memory.
        namespace: a short hash of the namespace, only for grouping.
        key: a hash of namespace and key together.
    """

    tenant: str
    tier: str
    owner: Digest
    namespace: str
    key: str

    @property
    def item_key(self) -> Key:
        """The key of the entry's item; the same for working and episodic memory."""
        names = {"group": self.namespace, "key": self.key}
        if self.tier == "n":
            return item_types.SEMANTIC_ENTRY.build_key(self.tenant, namespace=self.owner, **names)
        return item_types.PRIVATE_ENTRY.build_key(self.tenant, agent=self.owner, **names)

    @property
    def namespace_key(self) -> Key:
        """The key of the permissions of a semantic entry's namespace."""
        return item_types.NAMESPACE.build_key(self.tenant, namespace=self.owner)

    @property
    def vector_space(self) -> str:
        """The partition of the vectors of this entry and its neighbors."""
        if self.tier == "n":
            return item_types.NAMESPACE_VECTOR.build_partition(self.tenant, namespace=self.owner)
        return item_types.AGENT_VECTOR.build_partition(self.tenant, agent=self.owner)

    @property
    def client_vectors(self) -> str:
        """The partition of clients' vectors of the entries in its namespace."""
        names = {"owner": self.owner, "namespace": self.namespace}
        return item_types.CLIENT_VECTOR.build_partition(self.tenant, **names)

    def build_id(self, nonce: str) -> str:
        return f"mem_{self.tier}{self.owner}{self.namespace}{self.key}{nonce}"

    def is_owned_by(self, agent: str) -> bool:
        """Tell whether the entry is in the private memory of `agent`."""
        return self.tier != "n" and self.owner == hash_agent(agent)


def build_private_address(
    tenant: str, agent: str, namespace: str, key: str, tier: str = "w"
) -> EntryAddress:
    """Build the address that working ("w") and episodic ("e") memory share."""
    return EntryAddress(tenant, tier, hash_agent(agent), *_hash_names(namespace, key))


def build_semantic_address(tenant: str, namespace: str, key: str) -> EntryAddress:
    """Build the address of an entry of semantic memory, which only the namespace owns."""
    return EntryAddress(tenant, "n", hash_namespace(namespace), *_hash_names(namespace, key))


def parse_entry_id(tenant: str, entry_id: str) -> tuple[EntryAddress, str]:
    """Parse an id into the address in this tenant and the nonce."""
    match = _ENTRY_ID.fullmatch(entry_id)
    if match is None:
        raise EntryNotFound
    tier, owner, namespace, key, nonce = match.groups()
    return EntryAddress(tenant, tier, Digest(owner), namespace, key), nonce


def parse_item_keys(tenant: str, ids: Iterable[str]) -> Iterator[Key]:
    """Parse the keys of the items of entry ids; other texts are ignored."""
    for each in ids:
        with suppress(EntryNotFound):
            yield parse_entry_id(tenant, each)[0].item_key


def parse_entry_key(item_key: Key, tier: str) -> EntryAddress:
    """Parse the key of an entry's item; `tier` is "w", "e" or "n"."""
    tenant, _, owner = item_key[0].split("#")
    _, namespace, key = item_key[1].split("#")
    return EntryAddress(tenant, tier, Digest(owner), namespace, key)


def _hash_names(namespace: str, key: str) -> tuple[str, str]:
    """Hash the namespace, and namespace and key together; the namespace's hash is short."""
    # with the length: "a" + "bc" and "ab" + "c" are different slots
    group = hash_name("ns", namespace)[-_NAMESPACE_CHARACTERS:]
    return group, hash_name("key", f"{len(namespace)}:{namespace}{key}")


def build_entry_prefix(namespace: str | None) -> str:
    """Build the prefix of the sort keys of the entries (of one namespace) in a partition."""
    prefix = item_types.PRIVATE_ENTRY.sort_prefix
    return prefix if namespace is None else f"{prefix}{_hash_names(namespace, '')[0]}#"


def build_tombstone_key(address: EntryAddress, nonce: str) -> Key:
    """Build the key of the item with the reason and the actor of an entry's removal."""
    entry_id = address.build_id(nonce)
    return address.item_key[0], item_types.PRIVATE_TOMBSTONE.build_sort(entry_id=entry_id)


def build_index_row_sort(sort_token: str, tag: str | None) -> str:
    """Build the sort key of an entry's index row under a tag, or under all entries (None)."""
    tag = Digest() if tag is None else tag
    return item_types.INDEX_ROW.build_sort(tag=tag, sort_token=sort_token)


def build_sort_token(address: EntryAddress, nonce: str) -> str:
    """Build the sort token of an entry, the order of every list: creation, then id."""
    return f"{nonce[:TIME_CHARACTERS]}#{address.build_id(nonce)}"


def parse_sort_token(token: str) -> str:
    """Parse the entry id at the end of a sort token."""
    return token.rpartition("#")[2]


def build_creation_order(token: str) -> str:
    """Build an entry's sort key in the indexes of a partition: tier, then creation.

    Args:
        token: the entry's sort token; the result has each part of it once.
    """
    # "TIME#mem_e" + ADDRESS + TIME + SUFFIX becomes "e" + TIME + ADDRESS + SUFFIX
    time, _, entry_id = token.partition("#")
    tier, rest = entry_id[_ID_TIER], entry_id[_ID_TIER + 1 :]
    return tier + time + rest[:-_NONCE_CHARACTERS] + rest[-SUFFIX_CHARACTERS:]


def split_nonce(nonce: str) -> tuple[str, str] | None:
    """Split a nonce into the time and the suffix of a creation order; None if it is no nonce."""
    if not _NONCE.fullmatch(nonce):
        return None
    return nonce[:TIME_CHARACTERS], nonce[TIME_CHARACTERS:]


def parse_creation_order(order: str) -> str:
    """Parse the sort token that a creation order is built of."""
    tier, time, rest = order[0], order[1 : 1 + TIME_CHARACTERS], order[1 + TIME_CHARACTERS :]
    address, suffix = rest[:-SUFFIX_CHARACTERS], rest[-SUFFIX_CHARACTERS:]
    return f"{time}#mem_{tier}{address}{time}{suffix}"


def build_creation_bound(tier: str, before: str | None) -> str:
    """Build the exclusive upper bound of a tier's creation orders before a sort token.

    Args:
        tier: the letter of the tier.
        before: the token of an entry of any tier; None for no bound.
    """
    if before is None:
        return tier + HIGHEST
    time, other = before[:TIME_CHARACTERS], before.partition("#")[2][_ID_TIER]
    if other == tier:
        return build_creation_order(before)
    return tier + time + (HIGHEST if tier < other else "")


def build_time_bound(time: int) -> str:
    """Build the sort token that bounds all entries created before a time (epoch ms)."""
    return f"{encode_timestamp(time)}#mem_e"


def parse_index_row(sort: str) -> str:
    """Parse the sort token at the end of an index row's sort key."""
    return sort.split("#", 2)[2]

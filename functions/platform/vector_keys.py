"""Keys of vectors, and the partitions of the vector index."""

from functions.platform import item_types
from functions.platform.entry_keys import EntryAddress
from functions.platform.keys import Key, hash_agent, hash_namespace

EMBEDDING_KEY = item_types.EMBEDDING.build_key()
"""The item that says by which model all vectors are made; no tenant's name is a tilde."""


def build_agent_space(tenant: str, agent: str) -> str:
    """Build the partition of the vectors of an agent's private memory."""
    return item_types.AGENT_VECTOR.build_partition(tenant, agent=hash_agent(agent))


def build_namespace_space(tenant: str, namespace: str) -> str:
    """Build the partition of the vectors of a namespace's semantic memory."""
    return item_types.NAMESPACE_VECTOR.build_partition(tenant, namespace=hash_namespace(namespace))


def build_entry_space(address: EntryAddress) -> str:
    """Build the partition of the vectors of the entries beside this one."""
    if address.tier == "n":
        return item_types.NAMESPACE_VECTOR.build_partition(address.tenant, namespace=address.owner)
    return item_types.AGENT_VECTOR.build_partition(address.tenant, agent=address.owner)


def build_client_vectors_partition(address: EntryAddress) -> str:
    """Build the partition of the clients' vectors of the entries in this one's namespace."""
    names = {"tenant": address.tenant, "owner": address.owner, "namespace": address.namespace}
    return item_types.CLIENT_VECTOR.build_partition(**names)


def build_vector_key(space: str, ref: str) -> Key:
    """Build the key of a vector; `ref` says what it is of."""
    return space, item_types.AGENT_VECTOR.build_sort(ref=ref)


def parse_vector_ref(sort: str) -> str:
    return sort.removeprefix(item_types.AGENT_VECTOR.sort_prefix)

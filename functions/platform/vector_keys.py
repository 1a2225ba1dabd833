"""The keys of vectors: a space is a partition, and what a vector stands for its sort key's end."""

from functions.platform.keys import Key, Slot, agent_digest, digest

VECTOR_PREFIX = "v#"
EMBEDDING_ITEM: Key = ("~#embedding", "embedding")
"""What all vectors are made by; no tenant's name is a tilde."""


def agent_space(tenant: str, agent: str) -> str:
    """The space of an agent's private memory."""
    return f"{tenant}#va#{agent_digest(agent)}"


def namespace_space(tenant: str, namespace: str) -> str:
    """The space of a namespace's semantic memory."""
    return f"{tenant}#vn#{digest('namespace', namespace)}"


def space_of(slot: Slot) -> str:
    """The space of the entries that stand in a slot."""
    return f"{slot.tenant}#v{'n' if slot.semantic else 'a'}#{slot.owner}"


def vector_item(space: str, ref: str) -> Key:
    """The item of a vector."""
    return space, f"{VECTOR_PREFIX}{ref}"


def space_of_model(space: str, model: str) -> str:
    """The vectors of a space that one model has made: a partition of the native index."""
    return f"{space}#{model}"


def filter_value(value: str) -> str:
    """What the native index filters by: short, however long the value is."""
    return digest("filter", value)


def ref_of(sort: str) -> str:
    """What the vector with this sort key stands for."""
    return sort.removeprefix(VECTOR_PREFIX)

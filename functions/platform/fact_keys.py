"""Keys of facts: all of a tenant's stand in one space, in which they are searched."""

from functions.platform.keys import digest, id_of


def fact_space(tenant: str) -> str:
    """The space of a tenant's facts."""
    return f"{tenant}#vf"


def fact_ref(fact: str) -> str:
    """What a fact stands under in its space."""
    return digest("fact", fact)


def fact_id(seed: bytes) -> str:
    """A fact's id; the same for the same 16 bytes."""
    return id_of("fact", seed)

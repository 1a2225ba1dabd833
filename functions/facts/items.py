"""A fact's item: what it says, beside the vector that it is found by."""

from functions.facts.model import Fact
from functions.platform.entry_keys import build_vector_key
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.run_keys import build_fact_space, hash_fact
from functions.platform.schema import AGE_ATTRIBUTE
from functions.platform.values import compress, decompress
from functions.vectors.model import Vector, VectorFormat


def place_of(tenant: str, fact: str) -> Key:
    """Where a fact stands."""
    return build_vector_key(build_fact_space(tenant), hash_fact(fact))


def item_of(tenant: str, fact: Fact, vector: Vector, vector_format: VectorFormat) -> Item:
    """A fact as it is stored: beside its vector, in the form that its index wants."""
    return {
        "fact_id": fact.id,
        "object": fact.object,
        "confidence": repr(fact.confidence),  # exact, and a number of DynamoDB's isn't
        "metadata": None if fact.metadata is None else compress(fact.metadata),
        "learner": fact.learner,
        "version": fact.version,
        "created": fact.created,
        "updated": fact.updated,
        AGE_ATTRIBUTE: fact.updated,
        "request": fact.request,
        **vector_format.to_attributes(build_fact_space(tenant), vector, fact.filters),
    }


def fact_of(item: Item | None) -> Fact | None:
    """The fact that an item holds; None where there is none, or none any more."""
    if item is None or "model" not in item:
        return None
    metadata = item.get("metadata")
    return Fact(
        id=item["fact_id"],
        subject=item["subject"],
        predicate=item["predicate"],
        object=item["object"],
        confidence=float(item["confidence"]),
        agent_type=item.get("agent_type"),
        run=item.get("learned_from_run_id"),
        metadata=None if metadata is None else decompress(metadata),
        learner=item["learner"],
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
        model=item["model"],
        request=item.get("request"),
    )

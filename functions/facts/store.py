"""Items of facts: each is in one item with the vector by which it is found."""

from collections.abc import Iterable
from typing import NamedTuple

from functions.facts.model import Fact
from functions.platform.clock import Clock
from functions.platform.entry_keys import build_vector_key
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress
from functions.platform.keys import Key
from functions.platform.run_keys import build_fact_space, hash_fact
from functions.platform.schema import AGE_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put
from functions.vectors.model import Vector, VectorFormat
from functions.vectors.store import tombstone


class FactChanged(Exception):
    """The stored fact is no longer as it was read."""


class StoredFact(NamedTuple):
    """What an item holds: no fact if that was deleted, no version if there is no item."""

    fact: Fact | None
    version: int | None


class FactStore:
    """Reads and writes the facts of all tenants."""

    def __init__(self, table: Table, vector_format: VectorFormat, clock: Clock) -> None:
        self._table = table
        self._format = vector_format
        self._clock = clock

    def get(self, tenant: str, id: str) -> StoredFact:
        """Read one fact: one read."""
        item = self._table.get(build_fact_key(tenant, id))
        return StoredFact(decode_fact(item), None if item is None else item["version"])

    def get_many(self, tenant: str, refs: Iterable[str]) -> dict[str, Fact]:
        """Read the facts that exist among these, by what their vectors stand for."""
        keys = {build_vector_key(build_fact_space(tenant), ref): ref for ref in refs}
        items = self._table.get_many(keys)
        facts = {keys[key]: decode_fact(item) for key, item in items.items()}
        return {ref: fact for ref, fact in facts.items() if fact is not None}

    def put(self, tenant: str, fact: Fact, vector: Vector, seen: int | None) -> None:
        """Write a fact in place of what was read at the version `seen`; None: of nothing.

        Raises:
            FactChanged: the item has another version.
        """
        item = encode_fact(tenant, fact, vector, self._format)
        self._put(build_fact_key(tenant, fact.id), item, seen)

    def delete(self, tenant: str, fact: Fact) -> None:
        """Replace a fact by a tombstone, from which indexes in memory learn of the deletion.

        Raises:
            FactChanged: the item has another version.
        """
        item = tombstone(fact.version + 1, self._clock())
        self._put(build_fact_key(tenant, fact.id), item, fact.version)

    def replace_vector(self, tenant: str, fact: Fact, vector: Vector) -> None:
        """Write a fact with another vector; its version stays.

        Raises:
            FactChanged: the item has another version.
        """
        item = encode_fact(tenant, fact, vector, self._format)
        item[AGE_ATTRIBUTE] = self._clock()  # indexes in memory read what is newer
        self._put(build_fact_key(tenant, fact.id), item, fact.version)

    def _put(self, key: Key, item: Item, seen: int | None) -> None:
        condition, values = "attribute_not_exists(pk)", {}
        if seen is not None:
            condition, values = "version = :seen", {"seen": seen}
        try:
            self._table.put(put(key, item, condition, **values))
        except ConditionFailed as failed:
            raise FactChanged from failed


def build_fact_key(tenant: str, id: str) -> Key:
    """Build the key of a fact."""
    return build_vector_key(build_fact_space(tenant), hash_fact(id))


def encode_fact(tenant: str, fact: Fact, vector: Vector, vector_format: VectorFormat) -> Item:
    """Encode a fact and its vector, in the format that the index wants."""
    return {
        "fact_id": fact.id,
        "object": fact.object,
        "confidence": repr(fact.confidence),  # exact, as a number of DynamoDB's is not
        "metadata": None if fact.metadata is None else compress(fact.metadata),
        "learner": fact.learner,
        "version": fact.version,
        "created": fact.created,
        "updated": fact.updated,
        AGE_ATTRIBUTE: fact.updated,
        "request": fact.request,
        **vector_format.to_attributes(build_fact_space(tenant), vector, fact.filters),
    }


def decode_fact(item: Item | None) -> Fact | None:
    """Decode the fact of an item; None if there is no item, or the fact was deleted."""
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
        request=item.get("request"),
    )

"""Store facts and their chains: an item holds a fact and its vector.

The item of a chain names the present facts of one subject, predicate and user. Each replacement
writes it on condition of the version that it read, so of two replacements at once, the later one
ends the fact of the earlier one. Facts that were learned without a replacement are found by the
index of their subject, which may lag for a moment.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from functions.facts.model import Fact, FactQuery
from functions.facts.rules import end_fact
from functions.platform import schema
from functions.platform.bounded_pages import WHOLE, Examined, WantedPage, select_shown
from functions.platform.clock import Clock
from functions.platform.errors import ReadOnly, Throttled, ValidationFailed
from functions.platform.item_types import FACT, FACT_CHAIN, SINGLE_VALUED
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import compress, decompress, dumps
from functions.platform.keys import Digest, Key, hash_fact
from functions.platform.limits import (
    MAX_REPLACED_FACTS,
    MAX_SINGLE_VALUED_PREDICATES,
)
from functions.platform.newest_first import iterate_rows
from functions.platform.table import ConditionFailed, Table
from functions.platform.values import read_text
from functions.platform.writes import Write, build_set_expression, delete, put_version, update
from functions.vectors.model import Embedding, VectorFormat


class StoredFact(NamedTuple):
    """The content of the item of an id: a fact, or a reference to the fact of another id.

    Example: a fact is learned as `my-id`. The item at the id that is derived from its statement has
    `same_as: my-id`, so learning the statement again finds the fact. Vector indexes treat that item
    as deleted.

    Attributes:
        fact: None if the fact was deleted, or the item does not exist.
        version: None if the item does not exist.
    """

    id: str
    fact: Fact | None = None
    version: int | None = None
    same_as: str | None = None


class Replacement(NamedTuple):
    """The facts that a new fact replaces.

    Attributes:
        before: the stored facts that it ends.
        after: the same facts, ended.
        seen: the version of the chain's item; None if there is none.
    """

    before: list[Fact]
    after: list[Fact]
    seen: int | None


class FactStore:
    """Reads and writes facts, their chains, and which predicates are single-valued."""

    def __init__(self, table: Table, vector_format: VectorFormat, clock: Clock) -> None:
        self._table = table
        self._format = vector_format
        self._clock = clock

    def get(self, tenant: str, id: str) -> StoredFact:
        """Read one fact with one call."""
        return decode_stored(id, self._table.get(FACT.build_key(tenant, fact=id)))

    def get_many(
        self,
        tenant: str,
        refs: Iterable[str],
        read: Callable[[Iterable[Key]], Mapping[Key, Item]] | None = None,
    ) -> dict[str, Fact]:
        """Read the facts that exist among these references to vectors: a call per hundred.

        Args:
            read: reads the items, together with others.
        """
        keys = {FACT.build_key(tenant, fact=Digest(ref)): ref for ref in refs}
        items = (read or self._table.get_many)(keys)
        facts = {ref: decode_fact(items.get(key)) for key, ref in keys.items()}
        return {ref: fact for ref, fact in facts.items() if fact is not None}

    def write(self, writes: Sequence[Write]) -> None:
        """Write facts together: all or none."""
        self._table.write(writes)

    def build_writes(
        self,
        tenant: str,
        fact: Fact,
        embedding: Embedding,
        seen: int | None,
        reference: StoredFact | None,
    ) -> list[Write]:
        """Build the writes of a fact whose item still has the version `seen` (None: no item).

        Args:
            reference: the item that becomes a reference to it.
        """
        key, item = FACT.build_key(tenant, fact=fact.fact_id), self._encode(tenant, fact, embedding)
        writes = [put_version(key, item, seen)]
        if reference is not None:
            named = {"same_as": fact.fact_id, "version": (reference.version or 0) + 1}
            named |= self._format.build_stamp(self._clock())
            other = FACT.build_key(tenant, fact=reference.id)
            writes.append(put_version(other, named, reference.version))
        return writes

    def build_change(self, tenant: str, before: Fact, after: Fact) -> Write:
        """Build the write of a fact's changed fields; its statement and its vector stay."""
        old, new = to_attributes(before), to_attributes(after._replace(version=before.version + 1))
        changed = {name: value for name, value in new.items() if value != old[name]}
        if "confidence" in changed:
            changed["confidence"] = repr(after.confidence)
        if "metadata" in changed and after.metadata is not None:
            changed["metadata"] = compress(after.metadata)
        changed |= self._format.build_stamp(self._clock())
        expression, values = build_set_expression(changed)
        key = FACT.build_key(tenant, fact=before.fact_id)
        return update(key, expression, "version = :seen", seen=before.version, **values)

    def is_newest(self, tenant: str, fact: Fact, last: str) -> bool:
        """Tell whether no fact about a subject is newer, up to a position: a call to an index."""
        partition = FACT.build_group(tenant, subject=fact.subject)
        found = self._table.query_index(
            schema.BY_GROUP,
            f"{schema.GROUP_ATTRIBUTE} = :group AND {schema.TYPE_ORDER_ATTRIBUTE} <= :last",
            newest_first=True,
            page_size=1,
            group=partition,
            last=last,
        )
        newest = next(found, None)
        return newest is not None and newest[schema.TYPE_ORDER_ATTRIBUTE] == fact.position

    def note_recall(self, tenant: str, fact: Fact, now: int) -> None:
        """Record that a fact was recalled: no new version, and no write in a standby Region."""
        key = FACT.build_key(tenant, fact=fact.fact_id)
        write = update(key, "SET recalled_at = :now", "attribute_exists(learned_by)", now=now)
        with suppress(ConditionFailed, ReadOnly, Throttled):
            self._table.update(write)

    def list_newest(
        self, tenant: str, query: FactQuery, wanted: WantedPage = WHOLE
    ) -> Iterator[Examined[Fact]]:
        """Examine facts, newest first, for those that a query selects."""
        return (each for group in self.list_groups(tenant, query, wanted) for each in group)

    def list_groups(
        self, tenant: str, query: FactQuery, wanted: WantedPage = WHOLE
    ) -> Iterator[list[Examined[Fact]]]:
        """Examine facts as `list_newest` does, in groups.

        Each group takes two calls, even if it is empty: one to the index of the subject, the agent
        type or the tenant, and one for the facts themselves.
        """
        names = {"subject": query.subject, "agent_type": query.agent_type}
        for rows in iterate_rows(self._table, *FACT.choose_index(tenant, **names), wanted):
            listed = [
                (row["pk"], row["sk"])
                for row in rows
                if query.predicate in (None, row.get("predicate", query.predicate))
            ]  # some indexes do not project the predicate
            items = self._table.get_many(listed or (FACT.build_key(tenant, fact=""),))
            facts = (decode_fact(items.get((row["pk"], row["sk"]))) for row in rows)
            yield [
                Examined(
                    row[schema.TYPE_ORDER_ATTRIBUTE],
                    fact if fact is not None and query.matches(fact) else None,
                )
                for row, fact in zip(rows, facts, strict=True)
            ]

    def delete(
        self, tenant: str, fact: Fact, reference: StoredFact | None, audit: Sequence[Write]
    ) -> None:
        """Replace a fact by a tombstone, so that indexes in memory see the deletion.

        Args:
            reference: the item that points to the fact; it is deleted, too.
        """
        item = self._format.build_tombstone(fact.version + 1, self._clock())
        writes = [
            put_version(FACT.build_key(tenant, fact=fact.fact_id), item, fact.version),
            *audit,
        ]
        if fact.has_chain and fact.valid_until is None:
            writes.append(delete(build_chain_key(tenant, fact.chain)))
        if reference is not None:
            key = FACT.build_key(tenant, fact=reference.id)
            writes.append(delete(key, "version = :seen", seen=reference.version))
        self._table.write(writes)

    def replace_vector(self, tenant: str, fact: Fact, embedding: Embedding) -> None:
        """Write a fact with another vector, at the same version."""
        item = self._encode(tenant, fact, embedding)
        self._table.put(put_version(FACT.build_key(tenant, fact=fact.fact_id), item, fact.version))

    def list_single_valued(self, tenant: str) -> frozenset[str]:
        """Return the predicates of a tenant that have one value at a time."""
        item = self._table.get(SINGLE_VALUED.build_key(tenant)) or {}
        predicates: frozenset[str] = item.get("predicates", frozenset())
        return predicates

    def declare(
        self, tenant: str, predicate: str, record: Write, *, is_single_valued: bool
    ) -> None:
        """Store whether a predicate has one value at a time, with the audit record."""
        key, one = SINGLE_VALUED.build_key(tenant), frozenset({predicate})
        if not is_single_valued:
            self._table.transact([update(key, "DELETE predicates :one", one=one), record])
            return
        condition = (
            "attribute_not_exists(predicates) OR size(predicates) < :most"
            " OR contains(predicates, :predicate)"
        )
        most: Item = {"most": MAX_SINGLE_VALUED_PREDICATES, "predicate": predicate}
        try:
            added = update(key, "ADD predicates :one", condition, one=one, **most)
            self._table.transact([added, record])
        except ConditionFailed as error:
            problem = f"{MAX_SINGLE_VALUED_PREDICATES} predicates are single-valued; remove one"
            raise ValidationFailed("predicate", problem) from error

    def find_replacements(
        self,
        tenant: str,
        facts: Sequence[Fact],
        starts: Iterable[int],
        replacing: Iterable[bool],
        written: Collection[str],
        now: int,
    ) -> list[Replacement | None]:
        """Find what each of these new facts replaces; None where it replaces nothing.

        Args:
            starts: the time from which each replaces others (epoch ms): a present fact that is
                learned again replaces them from now on.
            replacing: whether the request asks for the replacement.
            written: the ids that the request writes anyway.
            now: epoch ms. A fact that has ended replaces nothing.
        """
        single_valued = self.list_single_valued(tenant)
        is_replacing = [
            (each or fact.predicate in single_valued)
            and (fact.valid_until is None or fact.valid_until > now)
            for fact, each in zip(facts, replacing, strict=True)
        ]
        _assert_different_chains(facts, is_replacing)
        return [
            self._find_replacement(tenant, fact, start, written, now) if each else None
            for fact, start, each in zip(facts, starts, is_replacing, strict=True)
        ]

    def _find_replacement(
        self, tenant: str, fact: Fact, start: int, written: Collection[str], now: int
    ) -> Replacement:
        item = self._table.get(build_chain_key(tenant, fact.chain)) or {}
        found = self.get_many(tenant, item.get("facts", ()))
        by_id = {each.fact_id: each for each in found.values()}
        query = FactQuery(subject=fact.subject, predicate=fact.predicate, user_id=fact.user_id)
        listed = select_shown(self.list_newest(tenant, query))
        by_id |= {each.fact_id: each for each in listed if each.chain == fact.chain}
        others = (each for each in by_id.values() if each.fact_id not in written)
        holding = (each for each in others if each.valid_until is None or each.valid_until > start)
        before = list(islice(holding, MAX_REPLACED_FACTS))
        after = [end_fact(each, start, now, fact.learned_by) for each in before]
        return Replacement(before, after, item.get("version"))

    def build_replacement(self, tenant: str, fact: Fact, replacement: Replacement) -> list[Write]:
        """Build the writes that end the replaced facts, and name the one that holds."""
        ended = [
            self.build_change(tenant, *each)
            for each in zip(replacement.before, replacement.after, strict=True)
        ]
        item = {
            "subject": fact.subject,
            "user_id": fact.user_id,
            "facts": [hash_fact(fact.fact_id)],
            # never a version that this key has had, even before a deletion
            "version": max((replacement.seen or 0) + 1, fact.updated_at),
        }
        named = put_version(build_chain_key(tenant, fact.chain), item, replacement.seen)
        return [*ended, named]

    def _encode(self, tenant: str, fact: Fact, embedding: Embedding) -> Item:
        space = FACT.build_partition(tenant)
        return {
            **to_attributes(fact),
            "confidence": repr(fact.confidence),  # as text: a DynamoDB number would round it
            "metadata": None if fact.metadata is None else compress(fact.metadata),
            **FACT.build_index_attributes(tenant, subject=fact.subject, agent_type=fact.agent_type),
            schema.TYPE_ORDER_ATTRIBUTE: fact.position,
            **self._format.encode(space, embedding, fact.filters, self._clock()),
        }


def decode_stored(id: str, item: Item | None) -> StoredFact:
    """Decode what the item of an id holds."""
    if item is None:
        return StoredFact(id)
    return StoredFact(id, decode_fact(item), item["version"], item.get("same_as"))


def build_chain_key(tenant: str, chain: tuple[str, str, str | None]) -> Key:
    """Build the key of the item that names the present facts of a chain."""
    return FACT_CHAIN.build_key(tenant, chain=dumps(list(chain)).decode())


def decode_fact(item: Item | None) -> Fact | None:
    """Decode the fact of an item; None if there is no item, or the fact was deleted."""
    if item is None or "model" not in item:
        return None
    metadata = item.get("metadata")
    return from_attributes(
        Fact,
        item,
        confidence=float(item["confidence"]),
        metadata=None if metadata is None else read_text(item, lambda: decompress(metadata)),
    )


def name_replaced(fact: Fact, replacement: Replacement | None) -> Fact:
    """Add the ids of the ended facts to a fact."""
    if replacement is None:
        return fact
    ended = [each.fact_id for each in replacement.before]
    named = (*(each for each in fact.replaced_facts if each not in ended), *ended)
    return fact._replace(has_chain=True, replaced_facts=named[-MAX_REPLACED_FACTS:])


def _assert_different_chains(facts: Sequence[Fact], is_replacing: Iterable[bool]) -> None:
    chains = [fact.chain for fact in facts]
    for index, (chain, each) in enumerate(zip(chains, is_replacing, strict=True)):
        if each and chains.count(chain) > 1:
            problem = "replaces another fact of the batch; send them one after another"
            raise ValidationFailed("facts", problem).at(index)

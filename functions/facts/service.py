"""Use cases of facts (ADR-043 Tier 3; contract §8). They are the tenant's, and kept until deleted.

The index only proposes: what is recalled is read from the table, so nothing that is gone shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from functions.facts.items import fact_of, item_of, place_of
from functions.facts.model import Fact, Recalled
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.entry_keys import build_vector_key
from functions.platform.errors import NotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.json_text import dumps_checked
from functions.platform.keys import Key
from functions.platform.limits import MAX_FACT_METADATA_BYTES
from functions.platform.retry import Backoff
from functions.platform.run_keys import build_fact_id, build_fact_space
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put
from functions.vectors.model import Hit, VectorSearch
from functions.vectors.store import tombstone

if TYPE_CHECKING:
    from functions.facts.requests import NewFact, Recall

_ABSENT, _AS_SEEN = "attribute_not_exists(pk)", "version = :seen"


class Facts:
    """The facts of a caller's tenant."""

    def __init__(self, table: Table, vector_search: VectorSearch, clock: Clock) -> None:
        self._table = table
        self._vector_search = vector_search
        self._clock = clock

    def learn(self, caller: Principal, new: NewFact, token: RequestToken) -> tuple[Fact, bool]:
        """Keeps a fact, in place of the one with its id; the fact, and whether it is new.

        Raises:
            ValueTooLarge: the metadata have over 16,384 bytes of compact JSON.
            IdempotencyConflict: the Idempotency-Key came with another fact.
        """
        metadata = _metadata(new)
        id = new.fact_id or build_fact_id(token.key)
        place = place_of(caller.tenant, id)
        blank = self._blank(caller, id, new, metadata, token)
        item = self._table.get(place) if new.fact_id else None
        backoff = Backoff("others are writing this fact")
        while True:
            present = fact_of(item)
            if present is not None and token.matches(present.request):
                return present, present.version == 1
            fact = blank if present is None else _in_place_of(present, blank)
            vector = self._vector_search.embed(fact.text)
            written = item_of(caller.tenant, fact, vector, self._vector_search.format)
            version = 0 if item is None else item["version"]
            if self._stored(place, written | {"version": version + 1}, item):
                return replace(fact, version=version + 1), present is None
            backoff.wait()
            item = self._table.get(place)

    def _blank(
        self,
        caller: Principal,
        id: str,
        new: NewFact,
        metadata: bytes | None,
        token: RequestToken,
    ) -> Fact:
        now = self._clock()
        return Fact(
            id=id,
            subject=new.subject,
            predicate=new.predicate,
            object=new.object,
            confidence=new.confidence,
            agent_type=new.agent_type,
            run=new.learned_from_run_id,
            metadata=metadata,
            learner=caller.id,
            version=1,
            created=now,
            updated=now,
            model=self._vector_search.format.model,
            request=token.stored,
        )

    def _stored(self, place: Key, item: Item, seen: Item | None) -> bool:
        """Whether a write counted: nobody else's came between."""
        condition, values = (_ABSENT, {}) if seen is None else (_AS_SEEN, {"seen": seen["version"]})
        try:
            self._table.put(put(place, item, condition, **values))
        except ConditionFailed:
            return False
        return True

    def get(self, caller: Principal, id: str) -> Fact:
        """One fact: one read. Raises `NotFound`."""
        found = fact_of(self._table.get(place_of(caller.tenant, id)))
        if found is None:
            raise _unknown()
        return found

    def forget(self, caller: Principal, id: str, version: int | None) -> None:
        """Deletes a fact.

        Raises:
            NotFound, VersionMismatch: as they say.
        """
        place = place_of(caller.tenant, id)
        backoff = Backoff("others are writing this fact")
        while True:
            item = self._table.get(place)
            fact = fact_of(item)
            if fact is None:
                raise _unknown()
            if version not in (None, fact.version):
                message = f"the fact is at version {fact.version}; read it and try again"
                raise VersionMismatch(message, version=fact.version)
            if self._stored(place, tombstone(fact.version + 1, self._clock()), item):
                return
            backoff.wait()

    def recall(self, caller: Principal, asked: Recall) -> list[Recalled]:
        """The `top_k` facts most alike to the query, best first."""
        query = self._vector_search.embed(asked.query)
        space, equal = build_fact_space(caller.tenant), asked.filters.equal

        def search(depth: int) -> tuple[list[Recalled], bool]:
            hits = self._vector_search.index.search(space, query, depth, equal)
            return self._standing(space, hits, asked), len(hits) < depth

        return self._vector_search.search_with_expansion(asked.top_k, search)

    def _standing(self, space: str, hits: list[Hit], asked: Recall) -> list[Recalled]:
        """The hits that are still there as they were found, and fit."""
        least, equal = asked.filters.min_confidence or 0.0, asked.filters.equal
        items = self._table.get_many(build_vector_key(space, hit.ref) for hit in hits)
        recalled = []
        for hit in hits:
            item = items.get(build_vector_key(space, hit.ref), {})
            fact = fact_of(item)
            fits = all(item.get(name) == wanted for name, wanted in equal.items())
            if fact is not None and fits and fact.confidence >= least:
                recalled.append(Recalled(fact, hit.score))
        return recalled


def _metadata(new: NewFact) -> bytes | None:
    if new.metadata is None:
        return None
    said = "the metadata have"
    return dumps_checked(new.metadata, "metadata", MAX_FACT_METADATA_BYTES, subject=said)


def _in_place_of(present: Fact, new: Fact) -> Fact:
    return replace(new, created=present.created)


def _unknown() -> NotFound:
    return NotFound("there is no such fact")

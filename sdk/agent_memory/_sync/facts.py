"""`client.facts`: what agents have learned, recalled by meaning (ADR-043 Tier 3)."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import Fact, RecalledFact
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import get_member, parse, parse_items

_FACTS = "/api/v1/facts"

Document = dict[str, Any]


class Facts(Resource):
    """The facts of the caller's tenant."""

    def learn(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the service's word
        *,
        confidence: float = 1.0,
        fact_id: str | None = None,
        agent_type: str | None = None,
        learned_from_run_id: str | None = None,
        metadata: Document | None = None,
        user_id: str | None = None,
    ) -> Fact:
        """Keep a fact until it is forgotten.

            client.facts.learn("Acme GmbH", "pays within", "14 days", confidence=0.9)

        Args:
            confidence: from 0 to 1.
            fact_id: the fact takes the place of the one with this id. Without it, the same
                subject, predicate and object are one fact, and `learned_count` counts.
            agent_type: a label to filter by.
            learned_from_run_id: the run that it was learned in.
            metadata: whatever JSON can write, up to 16,384 bytes; it isn't searched.
            user_id: the user whom the fact is about; only those who may read and write the memory
                of this user read and write the fact.

        Raises:
            ValidationError: a part has no words, or is too long.
        """
        body = {"subject": subject, "predicate": predicate, "object": object} | drop_none(
            confidence=confidence,
            fact_id=fact_id,
            agent_type=agent_type,
            learned_from_run_id=learned_from_run_id,
            metadata=metadata,
            user_id=user_id,
        )
        return parse(Fact.from_document, self._call("POST", _FACTS, json=body))

    def learn_all(self, facts: Iterable[Mapping[str, Any]]) -> list[Fact]:
        """Learn up to 50 facts, all or none.

            client.facts.learn_all([{"subject": "Acme", "predicate": "is in", "object": "Lyon"}])

        Args:
            facts: the fields of each, as for `learn`.

        Raises:
            ValidationError: a fact is malformed, or stands twice in the batch.
        """
        answer = self._call("POST", f"{_FACTS}/batch", json={"facts": [*map(dict, facts)]})
        return [
            parse(Fact.from_document, each) for each in parse_items(get_member(answer, "facts"))
        ]

    def recall(
        self,
        query: str,
        *,
        top_k: int = 5,
        min_score: float | None = None,
        agent_type: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        learned_from_run_id: str | None = None,
        min_confidence: float | None = None,
        user_id: str | None = None,
    ) -> list[RecalledFact]:
        """Return the facts that fit a query best by meaning, words and ids, best first.

            client.facts.recall("when does Acme pay?")[0].object

        Each has its `score`, 1 for the query's own words, and the words and ids that `matched`.

        Args:
            query: what to recall, in words.
            top_k: how many at most, up to 100.
            min_score: the least score.
            agent_type, subject, predicate, learned_from_run_id, user_id: only facts that have
                these.
            min_confidence: only facts that are at least as certain.
        """
        filters = drop_none(
            agent_type=agent_type,
            subject=subject,
            predicate=predicate,
            learned_from_run_id=learned_from_run_id,
            min_confidence=min_confidence,
            user_id=user_id,
        )
        body = {"query": query, "top_k": top_k, "filters": filters}
        body |= drop_none(min_score=min_score)
        answer = self._call("POST", f"{_FACTS}/recall", json=body)
        return [
            parse(RecalledFact.from_document, each)
            for each in parse_items(get_member(answer, "facts"))
        ]

    def get(self, fact_id: str) -> Fact | None:
        """Return a fact; None if there is none.

        client.facts.get("fact_1").confidence
        """
        try:
            found = self._call("GET", f"{_FACTS}/{quote_segment(fact_id)}")
        except MemoryNotFoundError:
            return None
        return parse(Fact.from_document, found)

    def query(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        learned_from_run_id: str | None = None,
        agent_type: str | None = None,
        user_id: str | None = None,
        **paging: Unpack[Paging],
    ) -> Pages[Fact]:
        """Return the tenant's facts that have these, newest first.

            [each.object for each in client.facts.query(subject="Acme GmbH")]

        Args:
            subject, predicate, learned_from_run_id, agent_type, user_id: only facts that have
                these.
            paging: `limit`, `page_size`, `after`.
        """
        asked = drop_none(
            subject=subject,
            predicate=predicate,
            learned_from_run_id=learned_from_run_id,
            agent_type=agent_type,
            user_id=user_id,
        )
        return self._list(_FACTS, "facts", Fact.from_document, paging, asked)

    def forget_all(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        learned_from_run_id: str | None = None,
        agent_type: str | None = None,
        user_id: str | None = None,
    ) -> int:
        """Delete the facts that have these; return how many there were.

            client.facts.forget_all(subject="Acme GmbH")

        Raises:
            ValidationError: nothing is given.
        """
        asked = drop_none(
            subject=subject,
            predicate=predicate,
            learned_from_run_id=learned_from_run_id,
            agent_type=agent_type,
            user_id=user_id,
        )
        answer = self._call("DELETE", _FACTS, params=asked)
        return int(answer["deleted"])

    def forget(self, fact_id: str, *, version: int | None = None) -> bool:
        """Delete a fact; whether there was one.

            client.facts.forget("fact_1")

        Raises:
            MemoryConflictError: it is at another version than the given one.
        """
        return self._delete(f"{_FACTS}/{quote_segment(fact_id)}", version)

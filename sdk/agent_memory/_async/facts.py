"""`client.facts`: facts, recalled by meaning (ADR-043 Tier 3)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, Unpack

from agent_memory._async.pages import AsyncPages
from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import Fact, FactPeriod, RecalledFact
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment, render_time
from agent_memory.responses import get_member, parse, parse_items

_FACTS = "/api/v1/facts"

Document = dict[str, Any]


class AsyncFacts(AsyncResource):
    """The facts of the caller's tenant."""

    async def learn(
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
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        replaces: Literal["same_subject_predicate"] | None = None,
    ) -> Fact:
        """Store a fact until it is deleted.

            client.facts.learn("Acme GmbH", "pays within", "14 days", confidence=0.9)

        Args:
            confidence: from 0 to 1.
            fact_id: replaces the fact with this id. Without it, learning the same subject,
                predicate and object again updates the fact and raises its `learned_count`.
            agent_type: a label to filter by.
            learned_from_run_id: the run in which it was learned.
            metadata: any JSON value; the API's description has its maximum size. Searches
                ignore it.
            user_id: the user whom the fact is about; reading and writing it needs access to the
                memory of this user.
            valid_from: the time from which the fact holds; now by default.
            valid_until: the time until which it holds.
            replaces: ends the facts with the same subject, predicate and `user_id`.

        Raises:
            ValidationError: a part is blank or too long.
        """
        body = {"subject": subject, "predicate": predicate, "object": object} | drop_none(
            confidence=confidence,
            fact_id=fact_id,
            agent_type=agent_type,
            learned_from_run_id=learned_from_run_id,
            metadata=metadata,
            user_id=user_id,
            valid_from=render_time(valid_from),
            valid_until=render_time(valid_until),
            replaces=replaces,
        )
        return parse(Fact.from_document, await self._call("POST", _FACTS, json=body))

    async def learn_all(self, facts: Iterable[Mapping[str, Any]]) -> list[Fact]:
        """Learn several facts, all or none.

            client.facts.learn_all([{"subject": "Acme", "predicate": "is in", "object": "Lyon"}])

        Args:
            facts: the fields of each, as for `learn`.

        Raises:
            ValidationError: a fact is malformed, or the batch has it twice.
        """
        answer = await self._call("POST", f"{_FACTS}/batch", json={"facts": [*map(dict, facts)]})
        return [
            parse(Fact.from_document, each) for each in parse_items(get_member(answer, "facts"))
        ]

    async def recall(
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
        as_of: datetime | None = None,
    ) -> list[RecalledFact]:
        """Return the facts that match a query best by meaning, words and ids, best first.

            client.facts.recall("when does Acme pay?")[0].object

        Each has its `score`, 1 for the query's own words, and the words and ids that `matched`.

        Args:
            query: a text.
            top_k: the maximum number of facts, up to 100.
            min_score: the lowest score.
            agent_type, subject, predicate, learned_from_run_id, user_id: only facts that have
                these.
            min_confidence: only facts with this confidence or more.
            as_of: only facts that held at this time; now by default.
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
        body |= drop_none(min_score=min_score, as_of=render_time(as_of))
        answer = await self._call("POST", f"{_FACTS}/recall", json=body)
        return [
            parse(RecalledFact.from_document, each)
            for each in parse_items(get_member(answer, "facts"))
        ]

    async def get(self, fact_id: str) -> Fact | None:
        """Return a fact; None if there is none.

        client.facts.get("fact_1").confidence
        """
        try:
            found = await self._call("GET", f"{_FACTS}/{quote_segment(fact_id)}")
        except MemoryNotFoundError:
            return None
        return parse(Fact.from_document, found)

    async def history(self, fact_id: str) -> list[FactPeriod]:
        """Return all facts with a fact's subject, predicate and user, the latest first.

            [each.object for each in client.facts.history("fact_1")]

        A fact that held several times is listed once for each period.

        Raises:
            MemoryNotFoundError: there is no such fact.
        """
        answer = await self._call("GET", f"{_FACTS}/{quote_segment(fact_id)}/history")
        return [
            parse(FactPeriod.from_document, each)
            for each in parse_items(get_member(answer, "facts"))
        ]

    async def single_valued(self) -> list[str]:
        """Return the predicates that have one value at a time.

        client.facts.single_valued()
        """
        answer = await self._call("GET", f"{_FACTS}/predicates")
        return [str(each["predicate"]) for each in parse_items(get_member(answer, "predicates"))]

    async def declare(self, predicate: str, *, single_valued: bool = True) -> None:
        """Declare that a predicate has one value at a time, or many. Needs `memory.admin`.

            client.facts.declare("lives in")

        A new fact with a single-valued predicate ends the fact before it.
        """
        path = f"{_FACTS}/predicates/{quote_segment(predicate)}"
        await self._call("PUT", path, json={"single_valued": single_valued})

    def query(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        learned_from_run_id: str | None = None,
        agent_type: str | None = None,
        user_id: str | None = None,
        as_of: datetime | None = None,
        ended: bool | None = None,
        **paging: Unpack[Paging],
    ) -> AsyncPages[Fact]:
        """Return the tenant's facts that match, newest first.

            [each.object for each in client.facts.query(subject="Acme GmbH")]

        Args:
            subject, predicate, learned_from_run_id, agent_type, user_id: only facts that have
                these.
            as_of: only facts that held at this time; now by default.
            ended: include facts that no longer hold.
            paging: `limit`, `page_size`, `after`.
        """
        asked = drop_none(
            subject=subject,
            predicate=predicate,
            learned_from_run_id=learned_from_run_id,
            agent_type=agent_type,
            user_id=user_id,
            as_of=render_time(as_of),
            ended=ended,
        )
        return self._list(_FACTS, "facts", Fact.from_document, paging, asked)

    async def forget_all(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        learned_from_run_id: str | None = None,
        agent_type: str | None = None,
        user_id: str | None = None,
    ) -> int:
        """Delete the facts that match; return their number.

            client.facts.forget_all(subject="Acme GmbH")

        Raises:
            ValidationError: no filter is given.
        """
        asked = drop_none(
            subject=subject,
            predicate=predicate,
            learned_from_run_id=learned_from_run_id,
            agent_type=agent_type,
            user_id=user_id,
        )
        answer = await self._call("DELETE", _FACTS, params=asked)
        return int(answer["deleted"])

    async def forget(self, fact_id: str, *, version: int | None = None) -> bool:
        """Delete a fact; return True if it existed.

            client.facts.forget("fact_1")

        Raises:
            MemoryConflictError: it has another version.
        """
        return await self._delete(f"{_FACTS}/{quote_segment(fact_id)}", version)

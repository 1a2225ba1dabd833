"""Facts (ADR-043 Tier 3)."""

from collections.abc import Iterable, Sequence
from typing import Annotated, NotRequired
from urllib.parse import quote

from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonObject,
    PagePosition,
    Probability,
    Timestamp,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response, stored_response
from functions.api.paging import build_page, read_page_request, truncate_to_limit
from functions.api.parameters import (
    CURSOR_PAGE,
    VALUES_OF_ANSWER,
    BooleanParameter,
    TextParameter,
    TimestampParameter,
)
from functions.api.routing import ANY, RouteTable
from functions.facts.authority import CHANGE_FACT, DECLARE_PREDICATE, DELETE_FACT
from functions.facts.model import Fact, FactChange, FactQuery
from functions.facts.requests import NewFact, NewFacts, PredicateRule, Recall
from functions.identity.model import ADMIN, READ, WRITE, Principal
from functions.platform.clock import to_rfc3339
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_FACT_PART_CHARACTERS, MAX_ID_CHARACTERS
from functions.platform.values import UNREADABLE
from functions.vectors.hybrid import Found


class FactDocument(TypedDict):
    """A fact: subject, predicate and object."""

    fact_id: str
    user_id: str | None
    """The user whom the fact is about."""
    unreadable: NotRequired[bool]
    """True if the stored metadata was damaged or moved."""
    agent_type: str | None
    """A label that groups runs, such as `sdr`. It does not limit access."""
    subject: NotRequired[Annotated[str, VALUE]]
    predicate: NotRequired[Annotated[str, VALUE]]
    object: NotRequired[Annotated[str, VALUE]]
    confidence: Probability
    learned_from_run_id: str | None
    """The last run that learned it."""
    learned_from_run_ids: list[str]
    """The latest {MAX_FACT_RUNS} runs that learned it, the last one at the end."""
    learned_count: Count
    """The number of times that it was learned."""
    first_learned_at: Timestamp
    valid_from: Timestamp
    """The time when the statement begins to hold."""
    valid_until: Timestamp | None
    """The time when it ceases to hold; null: it still holds."""
    replaced_facts: list[str]
    """The ids of the facts that it ended."""
    merged_into: str | None
    """The id of the equal fact that remains."""
    conflicts_with: NotRequired[list[str]]
    """The ids of facts with another value of the same single-valued predicate; absent without any.
    A list compares the facts of its page, a recall all present facts."""
    learned_by: str
    metadata: NotRequired[Annotated[JsonObject | None, VALUE]]
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp


class FactPageDocument(PagePosition):
    """A page of facts."""

    facts: list[FactDocument]


class FactChangeDocument(TypedDict):
    """A change of a fact."""

    time: Timestamp
    actor: str
    change: FactChange


class FactPeriodDocument(FactDocument):
    """A fact in a period in which it held."""

    changes: list[FactChangeDocument]
    """The fact's latest {MAX_FACT_CHANGES} changes apart from being learned again."""


class FactHistoryDocument(TypedDict):
    """A chain of facts."""

    facts: list[FactPeriodDocument]
    """All facts with the same subject, predicate and `user_id`, the latest `valid_from` first. A
    fact that held several times is listed once for each period."""


class PredicateDocument(TypedDict):
    """A predicate that the tenant has declared."""

    predicate: str
    single_valued: bool
    """True if a subject has one value at a time."""


class PredicatesDocument(TypedDict):
    """The predicates that the tenant has declared, by name."""

    predicates: list[PredicateDocument]


class LearnedFactsDocument(TypedDict):
    """The facts of a batch, in its order."""

    facts: list[FactDocument]


class DeletedFactsDocument(TypedDict):
    """The number of deleted facts."""

    deleted: Count


class RecalledFactDocument(FactDocument):
    """A fact that a recall found."""

    score: float
    """The relevance: 1 for the same words. Compare scores only within one response."""
    matched: list[str]
    """The words and ids of the query that the fact has, without case and accents."""


class RecalledDocument(TypedDict):
    """The results of a recall, best first."""

    facts: list[RecalledFactDocument]


def render_fact(fact: Fact, conflicting: Iterable[Fact] = ()) -> FactDocument:
    """Render a fact; the stored metadata are copied without parsing."""
    document = to_document(fact, FactDocument)
    if ids := [each.fact_id for each in conflicting]:
        document["conflicts_with"] = ids
    if fact.metadata is UNREADABLE:
        document["unreadable"] = True
    return document


def render_period(fact: Fact) -> FactPeriodDocument:
    """Render a fact in one of its periods, with its changes."""
    changes = [{**each, "time": to_rfc3339(each["time"])} for each in fact.changes]
    return to_document(fact, FactPeriodDocument, changes=changes)


ROUTES = RouteTable()

_FACTS = "/api/v1/facts"

_FACT = f"{_FACTS}/{{fact_id+}}"

_SUBJECT = TextParameter("subject", "Only facts with this subject.", MAX_FACT_PART_CHARACTERS)

_PREDICATE = TextParameter("predicate", "Only facts with this predicate.", MAX_FACT_PART_CHARACTERS)

_RUN = TextParameter(
    "learned_from_run_id",
    "Only facts that this run learned, if it is one of their latest runs.",
    MAX_ID_CHARACTERS,
)

_AGENT_TYPE = TextParameter("agent_type", "Only facts of this agent type.", MAX_ID_CHARACTERS)

_USER = TextParameter("user_id", "Only facts about this user.", MAX_ID_CHARACTERS)

_AS_OF = TimestampParameter("as_of", "Only facts that held at this time. Default: now.")

_ENDED = BooleanParameter("ended", "`true` also lists facts that do not hold.")

_FILTERS = (_SUBJECT, _PREDICATE, _RUN, _AGENT_TYPE, _USER)  # in the order of FactQuery


@ROUTES.add(
    f"GET {_FACTS}",
    READ,
    {200: FactPageDocument},
    query=(*_FILTERS, _AS_OF, _ENDED, VALUES_OF_ANSWER, *CURSOR_PAGE),
)
def list_facts(request: Request, caller: Principal) -> Response:
    """List the tenant's facts, newest first.

    Returns facts that hold now, or held at `as_of`. The index is eventually consistent: a new fact
    may be missing for a moment.
    """
    asked = read_page_request(request, caller)
    query, as_of, has_ended = _read_query(request), _AS_OF.read(request), _ENDED.read(request)
    if has_ended and as_of is not None:
        raise ValidationFailed("ended", "can't be combined with as_of")
    page_of = request.services.facts.list_page
    facts = page_of(caller, query, asked.wanted, as_of, has_ended=has_ended or False)
    conflicts = request.services.facts.find_conflicts(caller, () if has_ended else facts.elements)
    page, position = build_page(
        asked,
        facts,
        lambda fact: render_fact(fact, conflicts.get(fact.fact_id, ())),
        lambda fact: fact.position,
    )
    return json_response(200, FactPageDocument(facts=page, **position))


@ROUTES.add(
    f"DELETE {_FACTS}",
    ANY,
    {200: DeletedFactsDocument},
    query=_FILTERS,
    error_statuses=(409,),
    audited=(DELETE_FACT,),
)
def forget_facts(request: Request, caller: Principal) -> Response:
    """Forget the facts that match.

    Needs at least one parameter, and `memory.write` or `memory.admin`. If several runs learned
    a fact, naming any of them forgets it.
    """
    query = _read_query(request)
    if query == FactQuery():
        raise ValidationFailed(
            "query",
            "needs at least one of subject, predicate, learned_from_run_id, agent_type and user_id",
        )
    deleted = request.services.facts.forget_all(caller, query)
    return json_response(200, DeletedFactsDocument(deleted=deleted))


@ROUTES.add(
    f"POST {_FACTS}",
    WRITE,
    {200: FactDocument, 201: FactDocument},
    idempotent=True,
    audited=(CHANGE_FACT, DELETE_FACT),
)
def learn_fact(request: Request, caller: Principal, new: NewFact) -> Response:
    """Learn a fact.

    Learning the same subject, predicate and object again updates the fact and returns 200: the
    new confidence applies, and `learned_count` increases. If a fact with this `fact_id` exists,
    the new fact replaces it (200). With `replaces`, or for a single-valued predicate, the facts
    that it replaces end when it begins to hold.
    """
    ((fact, first),) = _learn(request, caller, [new])
    location = f"{_FACTS}/{quote(fact.fact_id, safe='')}"
    return stored_response(render_fact(fact), fact.version, location, is_new=first)


@ROUTES.add(
    f"POST {_FACTS}/batch",
    WRITE,
    {200: LearnedFactsDocument},
    idempotent=True,
    audited=(CHANGE_FACT, DELETE_FACT),
)
def learn_facts(request: Request, caller: Principal, new: NewFacts) -> Response:
    """Learn up to {MAX_LEARNED_FACTS} facts, all or none."""
    learned = _learn(request, caller, new.facts)
    facts = [render_fact(fact) for fact, _ in learned]
    return json_response(200, LearnedFactsDocument(facts=facts))


def _learn(request: Request, caller: Principal, news: Sequence[NewFact]) -> list[tuple[Fact, bool]]:
    for agent_type in {new.agent_type for new in news if new.agent_type is not None}:
        request.services.agent_types.record_use(caller.tenant, agent_type)
    token = request.claim_idempotency_key(caller)
    return request.services.facts.learn(caller, news, token)


@ROUTES.add(
    f"POST {_FACTS}/recall", READ, {200: RecalledDocument}, query=(VALUES_OF_ANSWER,), is_query=True
)
def recall_facts(request: Request, caller: Principal, asked: Recall) -> Response:
    """Recall the best facts for a query.

    Ranks facts by meaning, words and ids, best first. A fact with the query's exact words has
    the `score` 1. Scores of different queries are not comparable.
    """
    facts = request.services.facts
    found = facts.recall(caller, asked)
    conflicts = facts.find_conflicts(
        caller, [each.element for each in found], looks_further=asked.as_of is None
    )

    def render(each: Found[Fact]) -> RecalledFactDocument:
        fact = render_fact(each.element, conflicts.get(each.element.fact_id, ()))
        return {**fact, "score": each.score, "matched": each.matched}

    page = truncate_to_limit(map(render, found))
    return json_response(200, RecalledDocument(facts=page))


@ROUTES.add(f"GET {_FACTS}/predicates", READ, {200: PredicatesDocument})
def list_predicates(request: Request, caller: Principal) -> Response:
    """List the predicates that have one value at a time."""
    names = request.services.facts.list_single_valued(caller)
    predicates = [PredicateDocument(predicate=name, single_valued=True) for name in names]
    return json_response(200, PredicatesDocument(predicates=predicates))


@ROUTES.add(
    f"PUT {_FACTS}/predicates/{{predicate+}}",
    ADMIN,
    {200: PredicateDocument},
    audited=(DECLARE_PREDICATE,),
)
def declare_predicate(request: Request, caller: Principal, asked: PredicateRule) -> Response:
    """Declare whether a predicate has one value at a time.

    A fact that is learned with such a predicate ends the facts with the same subject, predicate
    and `user_id`. Facts that were learned before stay unchanged.
    """
    predicate = _PREDICATE.check(request.path_params["predicate"])
    is_single_valued = asked.single_valued
    request.services.facts.declare(caller, predicate, is_single_valued=is_single_valued)
    document = PredicateDocument(predicate=predicate, single_valued=is_single_valued)
    return json_response(200, document)


@ROUTES.add(f"GET {_FACT}/history", READ, {200: FactHistoryDocument}, query=(VALUES_OF_ANSWER,))
def list_chain(request: Request, caller: Principal) -> Response:
    """Get the chain of a fact."""
    chain = request.services.facts.list_chain(caller, request.path_params["fact_id"])
    facts = truncate_to_limit(map(render_period, chain))
    return json_response(200, FactHistoryDocument(facts=facts))


@ROUTES.add(f"GET {_FACT}", READ, {200: FactDocument})
def get_fact(request: Request, caller: Principal) -> Response:
    """Get a fact."""
    fact = request.services.facts.get(caller, request.path_params["fact_id"])
    return json_response(200, render_fact(fact), fact.version)


def _read_query(request: Request) -> FactQuery:
    return FactQuery(*(each.read(request) for each in _FILTERS))


@ROUTES.add(f"DELETE {_FACT}", ANY, {204: None}, audited=(DELETE_FACT,), if_match="optional")
def forget_fact(request: Request, caller: Principal) -> Response:
    """Forget a fact."""
    request.services.facts.forget(caller, request.path_params["fact_id"], request.if_match)
    return Response(204)

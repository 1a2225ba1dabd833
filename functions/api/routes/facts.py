"""Facts (ADR-043 Tier 3; contract §8)."""

from urllib.parse import quote

from functions.api.http import Request, Response, json_response
from functions.api.paging import truncate_to_limit
from functions.api.responses.facts import (
    FactDocument,
    RecalledDocument,
    render_fact,
    render_recalled_fact,
)
from functions.api.routing import Route
from functions.facts.model import Fact
from functions.facts.requests import NewFact, Recall
from functions.identity.model import READ, WRITE, Principal

_FACTS = "/api/v1/facts"
_FACT = f"{_FACTS}/{{fact_id+}}"


def learn_fact(request: Request, caller: Principal) -> Response:
    fact, first = request.services.facts.learn(
        caller, request.parse_body(NewFact), request.idempotency_token(caller)
    )
    response = _fact_response(201 if first else 200, fact)
    if first:
        response.headers["location"] = f"{_FACTS}/{quote(fact.id, safe='')}"
    return response


def recall_facts(request: Request, caller: Principal) -> Response:
    found = request.services.facts.recall(caller, request.parse_body(Recall))
    return json_response(
        200, RecalledDocument(facts=truncate_to_limit(map(render_recalled_fact, found)))
    )


def get_fact(request: Request, caller: Principal) -> Response:
    return _fact_response(200, request.services.facts.get(caller, request.path_params["fact_id"]))


def forget_fact(request: Request, caller: Principal) -> Response:
    request.services.facts.forget(caller, request.path_params["fact_id"], request.if_match)
    return Response(204)


def _fact_response(status: int, fact: Fact) -> Response:
    return json_response(status, render_fact(fact), etag=f'"{fact.version}"')


ROUTES = [
    Route(
        "POST",
        _FACTS,
        learn_fact,
        WRITE,
        "Learn a fact",
        {200: FactDocument, 201: FactDocument},
        response_headers=(
            "ETag",
            "Location",
        ),
        request_model=NewFact,
        error_statuses=(409, 413),
        idempotent=True,
        description="With a `fact_id` that is there, the fact takes the place of that one (200).",
    ),
    Route(
        "POST",
        f"{_FACTS}/recall",
        recall_facts,
        READ,
        "Recall the facts that fit a query best",
        {200: RecalledDocument},
        request_model=Recall,
        description="By meaning, words and ids; best first. `score` is 1 for the query's own "
        "words; below about 0.2 it is rather nothing that fits.",
    ),
    Route(
        "GET",
        _FACT,
        get_fact,
        READ,
        "Get a fact",
        {200: FactDocument},
        response_headers=("ETag",),
        error_statuses=(404,),
    ),
    Route(
        "DELETE",
        _FACT,
        forget_fact,
        WRITE,
        "Forget a fact",
        {204: None},
        error_statuses=(404, 409),
        if_match="optional",
    ),
]

"""Facts (ADR-043 Tier 3; contract §8)."""

from urllib.parse import quote

from functions.api.call import Answer, Call, json_answer
from functions.api.fact_documents import fact_document, recalled_document
from functions.api.paging import cut
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.facts.model import Fact
from functions.facts.requests import NewFact, Recall
from functions.identity.model import READ, WRITE, Principal

_FACTS = "/api/v1/facts"
_FACT = f"{_FACTS}/{{fact_id+}}"


def learn(call: Call, caller: Principal) -> Answer:
    fact, first = call.services.facts.learn(caller, parsed(call, NewFact), call.token(caller))
    answer = _answer(201 if first else 200, fact)
    if first:
        answer.headers["location"] = f"{_FACTS}/{quote(fact.id, safe='')}"
    return answer


def recall(call: Call, caller: Principal) -> Answer:
    found = call.services.facts.recall(caller, parsed(call, Recall))
    return json_answer(200, {"facts": cut(map(recalled_document, found))})


def get(call: Call, caller: Principal) -> Answer:
    return _answer(200, call.services.facts.get(caller, call.names["fact_id"]))


def forget(call: Call, caller: Principal) -> Answer:
    call.services.facts.forget(caller, call.names["fact_id"], call.if_match)
    return Answer(204)


def _answer(status: int, fact: Fact) -> Answer:
    return json_answer(status, fact_document(fact), etag=f'"{fact.version}"')


ROUTES = [
    Route(
        "POST",
        _FACTS,
        learn,
        WRITE,
        "Learn a fact",
        {200: "Fact", 201: "Fact"},
        body=NewFact,
        also=(409, 413),
        once=True,
    ),
    Route(
        "POST",
        f"{_FACTS}/recall",
        recall,
        READ,
        "Recall the facts most alike to a query",
        {200: "Recalled"},
        body=Recall,
    ),
    Route("GET", _FACT, get, READ, "Get a fact", {200: "Fact"}, also=(404,)),
    Route(
        "DELETE",
        _FACT,
        forget,
        WRITE,
        "Forget a fact",
        {204: None},
        also=(404, 409),
        if_match="optional",
    ),
]

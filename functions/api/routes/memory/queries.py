"""Entries by filters, and in figures."""

from typing import Any

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import entry_document
from functions.api.filters import FILTERS, OF_AGENT, filters_of
from functions.api.paging import PAGE, cut, envelope, limits, position
from functions.api.route import Route
from functions.api.routes.memory.entry import MEMORY
from functions.api.summary_documents import summary_document
from functions.entries.query import Found
from functions.identity.model import READ, Principal


def query(call: Call, caller: Principal) -> Answer:
    limit, offset = limits(call)
    found = call.services.queries.find(caller, filters_of(call))
    page, taken = _page(call, caller, found, limit, offset)
    return json_answer(200, envelope("entries", page, found.total, limit, offset, taken))


def of_agent(call: Call, caller: Principal) -> Answer:
    limit, offset = limits(call)
    found = call.services.queries.find(caller, filters_of(call, call.names["agent_id"]))
    page, taken = _page(call, caller, found, limit, offset)
    return json_answer(200, page, **position(found.total, offset, taken))


def _page(
    call: Call, caller: Principal, found: Found, limit: int, offset: int
) -> tuple[list[Any], int]:
    """A page's documents, and how many of what was found they account for."""
    entries = call.services.queries.page(caller, found, offset, limit)
    page = cut(map(entry_document, entries))
    if len(page) < len(entries):
        taken = found.orders.index(entries[len(page)].order) - offset
    else:
        taken = min(limit, max(found.total - offset, 0))
    return page, taken


def summary(call: Call, caller: Principal) -> Answer:
    return json_answer(
        200, summary_document(call.services.summaries.of(caller, call.names["agent_id"]))
    )


ROUTES = [
    Route("GET", MEMORY, query, READ, "Query entries", {200: "EntryPage"}, query=(*FILTERS, *PAGE)),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/memory/summary",
        summary,
        READ,
        "An agent's memory in figures",
        {200: "Summary"},
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/memory",
        of_agent,
        READ,
        "Query an agent's entries, as a bare array",
        {200: "Entries"},
        query=(*OF_AGENT, *PAGE),
    ),
]

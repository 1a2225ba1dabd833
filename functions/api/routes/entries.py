"""Entries of memory: create, read, change, delete, query and search (contract §4, §8)."""

from typing import Any

from functions.api.documents import Document, entry_document
from functions.api.filters import FILTERS, OF_AGENT, filters_of
from functions.api.http import Request, Response, json_response
from functions.api.paging import PAGE, cut, envelope, limits, position
from functions.api.routing import Route
from functions.api.summary_documents import summary_document
from functions.entries.model import Entry
from functions.entries.query import QueryResult
from functions.entries.requests import EntryChange, NewEntry
from functions.identity.model import READ, WRITE, Principal
from functions.search.requests import MemorySearch
from functions.search.service import Match


def query_entries(request: Request, caller: Principal) -> Response:
    limit, offset = limits(request)
    found = request.services.queries.find(caller, filters_of(request))
    page, taken = _page(request, caller, found, limit, offset)
    return json_response(200, envelope("entries", page, found.total, limit, offset, taken))


def query_agent_entries(request: Request, caller: Principal) -> Response:
    limit, offset = limits(request)
    found = request.services.queries.find(
        caller, filters_of(request, request.path_params["agent_id"])
    )
    page, taken = _page(request, caller, found, limit, offset)
    return json_response(200, page, **position(found.total, offset, taken))


def _page(
    request: Request, caller: Principal, found: QueryResult, limit: int, offset: int
) -> tuple[list[Any], int]:
    """A page's documents, and how many of what was found they account for."""
    entries = request.services.queries.read_page(caller, found, offset, limit)
    page = cut(map(entry_document, entries))
    if len(page) < len(entries):
        taken = found.sort_tokens.index(entries[len(page)].sort_token) - offset
    else:
        taken = min(limit, max(found.total - offset, 0))
    return page, taken


def summarize_agent_memory(request: Request, caller: Principal) -> Response:
    return json_response(
        200,
        summary_document(
            request.services.summaries.summarize(caller, request.path_params["agent_id"])
        ),
    )


MEMORY = "/api/v1/memory"


def get_entry(request: Request, caller: Principal) -> Response:
    entry = request.services.entries.get(caller, request.path_params["id"])
    if _unchanged(request.headers.get("if-none-match"), entry):
        return Response(304, headers={"etag": _etag(entry)})
    return _entry_response(200, entry)


def delete_entry(request: Request, caller: Principal) -> Response:
    request.services.entries.delete(caller, request.path_params["id"], request.if_match)
    return Response(204)


def _entry_response(status: int, entry: Entry, **headers: str) -> Response:
    """Render a response that shows an entry."""
    return json_response(status, entry_document(entry), etag=_etag(entry), **headers)


def _etag(entry: Entry) -> str:
    return f'"{entry.version}"'


def _unchanged(if_none_match: str | None, entry: Entry) -> bool:
    if if_none_match is None:
        return False
    given = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in given or _etag(entry) in given


def create_entry(request: Request, caller: Principal) -> Response:
    entry = request.services.entries.create(
        caller, request.parse_body(NewEntry), request.idempotency_token(caller)
    )
    return _entry_response(201, entry, location=f"{MEMORY}/{entry.id}")


def change_entry(request: Request, caller: Principal) -> Response:
    entry = request.services.entries.change(
        caller,
        request.path_params["id"],
        request.required_if_match,
        request.parse_body(EntryChange),
        request.idempotency_token(caller),
    )
    return _entry_response(200, entry)


def search_entries(request: Request, caller: Principal) -> Response:
    found = request.services.search.search(caller, request.parse_body(MemorySearch))
    return json_response(200, {"results": cut(map(_document, found))})


def _document(match: Match) -> Document:
    return {"entry": entry_document(match.entry), "score": match.score}


ROUTES = [
    Route(
        "GET",
        MEMORY,
        query_entries,
        READ,
        "Query entries",
        {200: "EntryPage"},
        query=(*FILTERS, *PAGE),
        description="What you may not read never matches. Newest first.",
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/memory/summary",
        summarize_agent_memory,
        READ,
        "An agent's memory in figures",
        {200: "Summary"},
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/memory",
        query_agent_entries,
        READ,
        "Query an agent's entries, as a bare array",
        {200: "Entries"},
        query=(*OF_AGENT, *PAGE),
        description="As the query, with the totals in headers. Newest first.",
    ),
    Route(
        "GET",
        f"{MEMORY}/{{id}}",
        get_entry,
        READ,
        "Get an entry",
        {200: "Entry", 304: None},
        error_statuses=(404,),
    ),
    Route(
        "DELETE",
        f"{MEMORY}/{{id}}",
        delete_entry,
        WRITE,
        "Delete an entry",
        {204: None},
        error_statuses=(404, 409),
        if_match="optional",
    ),
    Route(
        "POST",
        MEMORY,
        create_entry,
        WRITE,
        "Create an entry",
        {201: "Entry"},
        request_model=NewEntry,
        error_statuses=(404, 409, 413, 429),
        idempotent=True,
    ),
    Route(
        "PATCH",
        f"{MEMORY}/{{id}}",
        change_entry,
        WRITE,
        "Change an entry",
        {200: "Entry"},
        request_model=EntryChange,
        error_statuses=(404, 409, 413, 428, 429),
        if_match="required",
        idempotent=True,
    ),
    Route(
        "POST",
        "/api/v1/memory/search",
        search_entries,
        READ,
        "Search entries by meaning",
        {200: "SearchResults"},
        request_model=MemorySearch,
        description="An extension beside the query: compares the words of key, tags and value "
        "by meaning. What you may not read is never found, nor what is "
        "`confidential` or `restricted`. A write is found within a second or two; "
        "what is removed, from that moment on no more.",
    ),
]

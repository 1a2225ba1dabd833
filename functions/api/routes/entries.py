"""Entries of memory: create, read, change, delete, query and search."""

from functools import partial
from operator import attrgetter
from typing import Literal, cast

from functions.api.documents import PagePosition
from functions.api.filters import AGENT_FILTERS, FILTERS, read_filters
from functions.api.http import Request, Response, json_response, stored_response
from functions.api.paging import (
    BARE_ARRAY_HEADERS,
    PageRequest,
    bare_array_response,
    build_page,
    mark_hidden,
    paginate_uncounted,
    read_page_request,
)
from functions.api.parameters import (
    ARRAY_LIMIT,
    ARRAY_PAGE,
    AS_OF,
    CURSOR_PAGE,
    ONLY_NEW,
    TOUCH,
    UNCOUNTED_PAGE,
    VALUES_OF_LIST,
    ChoiceParameter,
    IntegerParameter,
)
from functions.api.responses.entries import (
    EntryDocument,
    EntryHistoryDocument,
    EntryPageDocument,
    EvictionOrderDocument,
    MemorySummaryDocument,
    render_entry,
    render_eviction_candidate,
    render_past_entry,
    render_summary,
    render_version,
)
from functions.api.routing import RouteTable
from functions.entries.authority import CHANGE_ENTRY, DELETE_ENTRY, REPLACE_ENTRY
from functions.entries.filters import Filters
from functions.entries.history import get_version_position
from functions.entries.model import Entry
from functions.entries.requests import EntryChange, Memory, NewEntry, Restoration
from functions.identity.model import READ, WRITE, Principal
from functions.namespaces.authority import CLAIM_NAMESPACE
from functions.platform.errors import UnreadableValue, ValidationFailed
from functions.platform.sensitivity import ENCRYPTED

ROUTES = RouteTable()
_VECTOR: ChoiceParameter[Literal["include"]] = ChoiceParameter(
    "vector", "`include` shows the vector that the client gave the entry.", Literal["include"]
)
_VERSION = IntegerParameter("version", "Return this version of the entry.", 1, 999_999_999)
_MEMORY = "/api/v1/memory"


@ROUTES.add(
    f"GET {_MEMORY}",
    READ,
    {200: EntryPageDocument},
    query=(*FILTERS, AS_OF, VALUES_OF_LIST, TOUCH, *CURSOR_PAGE),
    error_statuses=(410,),
)
def query_entries(request: Request, caller: Principal) -> Response:
    """Query entries.

    Newest first. Entries that you may not read never match. With `as_of`, lists the existing
    entries of a namespace, or of an agent's episodic memory, as of that time; a page may have fewer
    entries than `limit`.
    """
    asked, moment = read_page_request(request, caller), AS_OF.read(request)
    if moment is not None:
        return _query_past(request, caller, asked, moment)
    page, position, _ = _read_page(request, caller, asked, read_filters(request))
    return json_response(200, EntryPageDocument(entries=page, **position))


def _query_past(request: Request, caller: Principal, asked: PageRequest, moment: int) -> Response:
    filters, values = read_filters(request), VALUES_OF_LIST.read(request)
    found = request.services.history.find_page(caller, filters, asked.wanted, moment)

    def render(entry: Entry) -> EntryDocument:
        return render_past_entry(entry, has_value=_has_value(entry, values))

    page, position = build_page(asked, found, render, attrgetter("sort_token"))
    position.pop("next_offset", None)  # a page may be short: only a cursor continues it
    queries = request.services.queries
    position = mark_hidden(position, page, lambda: queries.has_unreadable(caller, filters))
    return json_response(200, EntryPageDocument(entries=page, **position))


@ROUTES.add("GET /api/v1/agents/{agent_id+}/memory/summary", READ, {200: MemorySummaryDocument})
def summarize_agent_memory(request: Request, caller: Principal) -> Response:
    """Summarize an agent's memory in figures."""
    summary = request.services.summaries.summarize(caller, request.path_params["agent_id"])
    return json_response(200, render_summary(summary))


def _read_page(
    request: Request, caller: Principal, asked: PageRequest, filters: Filters
) -> tuple[list[EntryDocument], PagePosition, int]:
    """Render a page, describe it, and count its available entries."""
    queries = request.services.queries
    values = VALUES_OF_LIST.read(request)
    found = queries.find_page(caller, filters, asked.wanted, includes_administered=True)

    def render(entry: Entry) -> EntryDocument:
        has_value = _has_value(entry, values) and queries.may_read(caller, entry)
        return render_entry(entry, has_value=has_value)

    page, position = build_page(asked, found, render, attrgetter("sort_token"))
    if TOUCH.read(request) is not False:
        request.services.access_tracker.record_reads(caller, found.elements[: len(page)])
    position = mark_hidden(position, page, lambda: queries.has_unreadable(caller, filters))
    return page, position, len(found.elements)


def _has_value(entry: Entry, values: Literal["omit", "ordinary"] | None) -> bool:
    return entry.sensitivity not in ENCRYPTED if values == "ordinary" else values is None


@ROUTES.add(
    "GET /api/v1/agents/{agent_id+}/memory/eviction",
    READ,
    {200: EvictionOrderDocument},
    query=UNCOUNTED_PAGE,
)
def list_eviction_order(request: Request, caller: Principal) -> Response:
    """List episodic entries in the order in which they are evicted.

    Sorted by priority, then by the last access: the first entry is evicted first. Entries have no
    values, and pinned ones aren't listed. For the agent, and for coordinators of its open tasks.
    The request doesn't change the order.
    """
    order, agent = request.services.eviction_order, request.path_param("agent_id")
    page, position = paginate_uncounted(
        request,
        caller,
        partial(order.list_all, caller, agent),
        render_eviction_candidate,
        lambda each: str(each.eviction_order),
    )
    document: EvictionOrderDocument = {"entries": page, "limit": position["limit"]}
    if "next" in position:
        document["next"] = position["next"]
    if not page and not order.can_read(caller, agent):
        document["hidden"] = True
    return json_response(200, document)


@ROUTES.add(
    "GET /api/v1/agents/{agent_id+}/memory",
    READ,
    {200: list[EntryDocument]},
    response_headers=BARE_ARRAY_HEADERS,
    error_statuses=(413,),
    query=(*AGENT_FILTERS, VALUES_OF_LIST, TOUCH, *ARRAY_PAGE),
)
def query_agent_entries(request: Request, caller: Principal) -> Response:
    """Query an agent's entries, as a bare array.

    The totals are in headers. Newest first.
    """
    filters = read_filters(request, request.path_params["agent_id"])
    asked = read_page_request(request, caller, ARRAY_LIMIT)
    return bare_array_response(request, *_read_page(request, caller, asked, filters))


@ROUTES.add(
    f"GET {_MEMORY}/{{id}}",
    READ,
    {200: EntryDocument, 304: None},
    query=(TOUCH, _VECTOR, _VERSION, AS_OF),
    error_statuses=(404, 409, 410),
)
def get_entry(request: Request, caller: Principal) -> Response:
    """Get an entry."""
    past = _read_past(request, caller)
    if past is not None:
        if past.unreadable:
            raise UnreadableValue
        return json_response(200, render_past_entry(past))
    is_touched = TOUCH.read(request) is not False
    entries = request.services.entry_reader
    entry = entries.get(caller, request.path_params["id"], is_touched=is_touched)
    if request.has_version(entry.version):
        return Response(304, headers={"etag": f'"{entry.version}"'})
    if entry.unreadable:
        raise UnreadableValue
    document = render_entry(entry)
    vector = None if _VECTOR.read(request) is None else entries.get_vector(entry)
    if vector is not None:
        document["vector"] = vector
    return json_response(200, document, entry.version)


def _read_past(request: Request, caller: Principal) -> Entry | None:
    """Read an earlier version, if the request names a version or a time."""
    history, id = request.services.history, request.path_params["id"]
    version, moment = _VERSION.read(request), AS_OF.read(request)
    if version and moment is not None:
        raise ValidationFailed("as_of", "can't be combined with version")
    if version:
        return history.get_version(caller, id, version)
    return None if moment is None else history.get_at(caller, id, moment)


@ROUTES.add(
    f"GET {_MEMORY}/{{id}}/history",
    READ,
    {200: EntryHistoryDocument},
    query=(VALUES_OF_LIST, *UNCOUNTED_PAGE),
)
def list_versions(request: Request, caller: Principal) -> Response:
    """List the versions of an entry, newest first.

    Semantic memory keeps the versions of {DEFAULT_HISTORY_DAYS} by default; its namespace can
    change this. Episodic memory follows the agent's settings. A deleted entry has no history.
    """
    history, id = request.services.history, request.path_params["id"]
    values = VALUES_OF_LIST.read(request)
    page, position = paginate_uncounted(
        request,
        caller,
        partial(history.list_versions, caller, id),
        lambda version: render_version(version, has_value=_has_value(version, values)),
        get_version_position,
    )
    return json_response(200, cast("EntryHistoryDocument", {"versions": page, **position}))


@ROUTES.add(f"DELETE {_MEMORY}/{{id}}/history", WRITE, {204: None})
def remove_history(request: Request, caller: Principal) -> Response:
    """Remove the earlier versions of an entry."""
    request.services.history.remove(caller, request.path_params["id"])
    return Response(204)


@ROUTES.add(
    f"POST {_MEMORY}/{{id}}/restore",
    WRITE,
    {200: EntryDocument},
    error_statuses=(404, 409, 410),
    if_match="required",
    idempotent=True,
    audited=(CHANGE_ENTRY,),
)
def restore_version(request: Request, caller: Principal, wanted: Restoration) -> Response:
    """Write the value of an earlier version again."""
    entry = request.services.history.restore(
        caller,
        request.path_params["id"],
        request.required_if_match,
        wanted.version,
        request.idempotency_token(caller),
    )
    return json_response(200, render_entry(entry), entry.version)


@ROUTES.add(
    f"DELETE {_MEMORY}/{{id}}", WRITE, {204: None}, if_match="optional", audited=(DELETE_ENTRY,)
)
def delete_entry(request: Request, caller: Principal) -> Response:
    """Delete an entry."""
    request.services.deletes.delete(caller, request.path_params["id"], request.if_match)
    return Response(204)


@ROUTES.add(
    f"POST {_MEMORY}",
    WRITE,
    {201: EntryDocument},
    idempotent=True,
    audited=(CLAIM_NAMESPACE,),
)
def create_entry(request: Request, caller: Principal, new: NewEntry) -> Response:
    """Create an entry."""
    entry = request.services.creates.create(caller, new, request.idempotency_token(caller))
    return json_response(201, render_entry(entry), entry.version, location=f"{_MEMORY}/{entry.id}")


@ROUTES.add(
    "POST /api/v1/remember",
    WRITE,
    {200: EntryDocument, 201: EntryDocument},
    idempotent=True,
    audited=(CLAIM_NAMESPACE,),
)
def remember(request: Request, caller: Principal, new: Memory) -> Response:
    """Remember a text or a value, once.

    Stores it in the user's namespace `users/{user_id}/memory`, or in the caller's own,
    `agents/{id}/memory`. If a memory with the same words exists there, it returns 200 with that
    memory; letter case and punctuation don't matter.
    """
    entry, is_new = request.services.remembering.remember(
        caller, new, request.idempotency_token(caller)
    )
    location = f"{_MEMORY}/{entry.id}"
    status = 201 if is_new else 200
    return json_response(status, render_entry(entry), entry.version, location=location)


@ROUTES.add(
    f"PUT {_MEMORY}",
    WRITE,
    {200: EntryDocument, 201: EntryDocument},
    request_headers=(ONLY_NEW,),
    error_statuses=(404, 409),
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_ENTRY, CLAIM_NAMESPACE, REPLACE_ENTRY),
)
def put_entry(request: Request, caller: Principal, new: NewEntry) -> Response:
    """Create an entry, or replace its value.

    Needs no version: the last write wins. All fields are set from the body, as in a create. An
    entry of the same tier and scope keeps its id; another entry of this namespace and key is
    deleted. With `If-None-Match: *`, the request only creates.
    """
    version = request.replaceable_version
    if request.must_not_exist:
        return create_entry(request, caller, new)
    entry, is_new = request.services.puts.put(
        caller, new, version, request.idempotency_token(caller)
    )
    location = f"{_MEMORY}/{entry.id}"
    return stored_response(render_entry(entry), entry.version, location, is_new=is_new)


@ROUTES.add(
    f"PATCH {_MEMORY}/{{id}}",
    WRITE,
    {200: EntryDocument},
    if_match="required",
    idempotent=True,
    audited=(CHANGE_ENTRY,),
)
def change_entry(request: Request, caller: Principal, change: EntryChange) -> Response:
    """Change an entry."""
    entry = request.services.changes.change(
        caller,
        request.path_params["id"],
        request.required_if_match,
        change,
        request.idempotency_token(caller),
    )
    return json_response(200, render_entry(entry), entry.version)

"""Memories of replayable runs, by OpenWOP RFC 0004 (contract §7)."""

from collections.abc import Iterator
from itertools import islice

from functions.api.http import Request, Response, json_response
from functions.api.paging import truncate_to_limit
from functions.api.parameters import IntegerParameter, TextParameter
from functions.api.responses.openwop import (
    EndedMemoryRunDocument,
    FoundMemoryEntryDocument,
    MemoryEntryDeletedDocument,
    MemoryEntryDocument,
    MemoryEntryListDocument,
    MemoryRunDocument,
    render_memory_entry,
    render_started_run,
)
from functions.api.routing import Route
from functions.identity.model import READ, WRITE, Principal
from functions.openwop.model import EntryListQuery, MemoryEntry
from functions.openwop.requests import NewMemoryEntry, NewMemoryRun
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.openwop_keys import parse_memory_entry_id

_RUNS = "/v1/runs"
_MEMORY = "/v1/memory/{memoryRef+}"
_ENTRY = f"{_MEMORY}/{{id}}"
_RUN_ID = TextParameter(
    "runId", "A run on this memory; its snapshot shows. The present unless given."
)
_TAG = TextParameter("tag", "Entries that have this tag.")
_BEFORE = TextParameter(
    "before",
    "Entries older than the one with this id.",
    pattern="mem_[0-9a-hjkmnp-tv-z]{22}",
    expected="is the id of an entry",
)
_LIMIT = IntegerParameter(
    "limit",
    "How many to answer at most; 0 is no limit of yours, and 1,000 or 5 MB.",
    0,
    MAX_PAGE_ITEMS,
    0,
)


def start_memory_run(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewMemoryRun)
    started = request.services.memory_runs.start(
        caller, new, request.optional_idempotency_token(caller)
    )
    return json_response(201, render_started_run(started))


def end_memory_run(request: Request, caller: Principal) -> Response:
    run = request.path_params["runId"]
    request.services.memory_runs.end(caller, run)
    return json_response(200, EndedMemoryRunDocument(runId=run, ended=True))


def list_memory_entries(request: Request, caller: Principal) -> Response:
    limit = _LIMIT.read(request)
    query = EntryListQuery(_TAG.read(request), _before(request), limit or MAX_PAGE_ITEMS)
    found = request.services.memories.list(
        caller, request.path_params["memoryRef"], _RUN_ID.read(request), query
    )
    return json_response(200, _entry_list(found, limit))


def _entry_list(found: Iterator[MemoryEntry], limit: int) -> MemoryEntryListDocument:
    """Render a list; `next` is where to go on, unless the caller's own limit ended it."""
    taken: list[MemoryEntry] = []

    def documents() -> Iterator[MemoryEntryDocument]:
        for entry in islice(found, limit or MAX_PAGE_ITEMS):
            taken.append(entry)
            yield render_memory_entry(entry)

    page = truncate_to_limit(documents())
    if len(page) == len(taken) and (limit or next(found, None) is None):
        return {"entries": page}
    return {"entries": page, "next": taken[len(page) - 1].id}


def get_memory_entry(request: Request, caller: Principal) -> Response:
    entry = request.services.memories.get(
        caller,
        request.path_params["memoryRef"],
        request.path_params["id"],
        _RUN_ID.read(request),
    )
    if entry is None:
        message = "no entry that shows here has this id"
        return json_response(404, {"error": "not_found", "message": message, "entry": None})
    return json_response(200, FoundMemoryEntryDocument(entry=render_memory_entry(entry)))


def put_memory_entry(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewMemoryEntry)
    reference = request.path_params["memoryRef"]
    entry = request.services.memories.put(
        caller, reference, new, request.optional_idempotency_token(caller)
    )
    return json_response(201, render_memory_entry(entry))


def delete_memory_entry(request: Request, caller: Principal) -> Response:
    deleted = request.services.memories.delete(
        caller,
        request.path_params["memoryRef"],
        request.path_params["id"],
        _RUN_ID.read(request),
    )
    return json_response(200, MemoryEntryDeletedDocument(deleted=deleted))


def _before(request: Request) -> int | None:
    """Return the position of the entry that the list begins after."""
    text = _BEFORE.read(request)
    if text is None:
        return None
    named = parse_memory_entry_id(text)
    if named is None:
        raise ValidationFailed(_BEFORE.name, _BEFORE.expected)
    return named[0]


ROUTES = [
    Route(
        "POST",
        _RUNS,
        start_memory_run,
        WRITE,
        "Start a run: get the memory of an agent and scope, and a snapshot of it",
        {201: MemoryRunDocument},
        request_model=NewMemoryRun,
        error_statuses=(409, 413),
        idempotent=True,
        description="The memory is that of the caller, the agent and the scope; whoever in the "
        "tenant is given its `memoryRef` may use it. The run is over when it is "
        "ended, or after 24 hours. Secrets of 8 characters or more are kept "
        "encrypted, for its puts.",
    ),
    Route(
        "POST",
        f"{_RUNS}/{{runId}}/end",
        end_memory_run,
        WRITE,
        "End a run: drop its secrets and its hold on the snapshot",
        {200: EndedMemoryRunDocument},
        error_statuses=(404,),
        description="Again changes nothing.",
    ),
    Route(
        "GET",
        _ENTRY,
        get_memory_entry,
        READ,
        "Get an entry that a snapshot shows",
        {200: FoundMemoryEntryDocument},
        query=(_RUN_ID,),
        error_statuses=(404, 409),
    ),
    Route(
        "DELETE",
        _ENTRY,
        delete_memory_entry,
        WRITE,
        "Delete an entry for all later runs",
        {200: MemoryEntryDeletedDocument},
        query=(_RUN_ID,),
        error_statuses=(404, 409),
        description="Runs that are open go on seeing it; after the last of them it leaves the "
        "storage.",
    ),
    Route(
        "GET",
        _MEMORY,
        list_memory_entries,
        READ,
        "List what a snapshot shows",
        {200: MemoryEntryListDocument},
        query=(_RUN_ID, _LIMIT, _TAG, _BEFORE),
        error_statuses=(404, 409),
        description="Newest first. In a run it is always the same, but for entries that "
        "expire; without one it is what there is now.",
    ),
    Route(
        "POST",
        _MEMORY,
        put_memory_entry,
        WRITE,
        "Put an entry, clean of the run's secrets",
        {201: MemoryEntryDocument},
        request_model=NewMemoryEntry,
        error_statuses=(404, 409, 413, 422),
        idempotent=True,
        description="In a run, its secrets are replaced by `<REDACTED:label>` before anything "
        "is stored, or refused if the run rejects them. Empty tags are dropped.",
    ),
]

"""Memories of replayable runs, by OpenWOP RFC 0004 (contract §7)."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from functions.api.http import Request, Response, json_response
from functions.api.openwop_documents import memory_entry_document, run_document
from functions.api.paging import cut, number, single
from functions.api.routing import Route
from functions.identity.model import READ, WRITE, Principal
from functions.openwop.model import EntryListQuery, MemoryEntry
from functions.openwop.requests import NewMemoryEntry, NewMemoryRun
from functions.platform.errors import ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.openwop_keys import parse_memory_entry_id

_RUNS = "/v1/runs"
_MEMORY = "/v1/memory/{memoryRef+}"
_ENTRY = f"{_MEMORY}/{{id}}"


def start_memory_run(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewMemoryRun)
    started = request.services.memory_runs.start(caller, new, _token(request, caller))
    return json_response(201, run_document(started))


def end_memory_run(request: Request, caller: Principal) -> Response:
    run = request.path_params["runId"]
    request.services.memory_runs.end(caller, run)
    return json_response(200, {"runId": run, "ended": True})


def list_memory_entries(request: Request, caller: Principal) -> Response:
    limit = number(request, "limit", 0, 0, MAX_PAGE_ITEMS)
    query = EntryListQuery(_tag(request), _before(request), limit or MAX_PAGE_ITEMS)
    found = request.services.memories.list(
        caller, request.path_params["memoryRef"], single(request, "runId"), query
    )
    return json_response(200, _listed(found, limit))


def _listed(found: Iterator[MemoryEntry], limit: int) -> dict[str, Any]:
    """A list; `next` is where to go on if it wasn't the caller's own limit that ended it."""
    taken: list[MemoryEntry] = []

    def documents() -> Iterator[dict[str, Any]]:
        for entry in islice(found, limit or MAX_PAGE_ITEMS):
            taken.append(entry)
            yield memory_entry_document(entry)

    page = cut(documents())
    if len(page) == len(taken) and (limit or next(found, None) is None):
        return {"entries": page}
    return {"entries": page, "next": taken[len(page) - 1].id}


def get_memory_entry(request: Request, caller: Principal) -> Response:
    entry = request.services.memories.get(
        caller,
        request.path_params["memoryRef"],
        request.path_params["id"],
        single(request, "runId"),
    )
    if entry is None:
        message = "no entry that shows here has this id"
        return json_response(404, {"error": "not_found", "message": message, "entry": None})
    return json_response(200, {"entry": memory_entry_document(entry)})


def put_memory_entry(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewMemoryEntry)
    reference = request.path_params["memoryRef"]
    entry = request.services.memories.put(caller, reference, new, _token(request, caller))
    return json_response(201, memory_entry_document(entry))


def delete_memory_entry(request: Request, caller: Principal) -> Response:
    deleted = request.services.memories.delete(
        caller,
        request.path_params["memoryRef"],
        request.path_params["id"],
        single(request, "runId"),
    )
    return json_response(200, {"deleted": deleted})


def _token(request: Request, caller: Principal) -> RequestToken | None:
    """The token of an Idempotency-Key. Bodies may hold secrets, so theirs goes in as a digest
    that only this service can make."""
    return request.optional_idempotency_token(
        caller, request.services.memory_references.digest_body
    )


def _tag(request: Request) -> str | None:
    tag = single(request, "tag")
    if tag == "":
        raise ValidationFailed("tag", "is empty")
    return tag


def _before(request: Request) -> int | None:
    text = single(request, "before")
    if text is None:
        return None
    named = parse_memory_entry_id(text)
    if named is None:
        raise ValidationFailed("before", "is the id of an entry")
    return named[0]


ROUTES = [
    Route(
        "POST",
        _RUNS,
        start_memory_run,
        WRITE,
        "Start a run: get the memory of an agent and scope, and a snapshot of it",
        {201: "MemoryRun"},
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
        {200: "EndedMemoryRun"},
        error_statuses=(404,),
        description="Again changes nothing.",
    ),
    Route(
        "GET",
        _ENTRY,
        get_memory_entry,
        READ,
        "Get an entry that a snapshot shows",
        {200: "FoundMemoryEntry"},
        query=("runId",),
        error_statuses=(404, 409),
    ),
    Route(
        "DELETE",
        _ENTRY,
        delete_memory_entry,
        WRITE,
        "Delete an entry for all later runs",
        {200: "MemoryEntryDeleted"},
        query=("runId",),
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
        {200: "MemoryEntryList"},
        query=("runId", "limit", "tag", "before"),
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
        {201: "MemoryEntry"},
        request_model=NewMemoryEntry,
        error_statuses=(404, 409, 413, 422),
        idempotent=True,
        description="In a run, its secrets are replaced by `<REDACTED:label>` before anything "
        "is stored, or refused if the run rejects them. Empty tags are dropped.",
    ),
]

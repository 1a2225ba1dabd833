"""Memories of replayable runs, by OpenWOP RFC 0004 (contract §7)."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from functions.api.call import Answer, Call, json_answer
from functions.api.openwop_documents import memory_entry_document, run_document
from functions.api.paging import cut, number, single
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.identity.model import READ, WRITE, Principal
from functions.openwop.model import Listing, MemoryEntry
from functions.openwop.requests import NewMemoryEntry, NewMemoryRun
from functions.platform.errors import ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.snapshot_keys import parse_memory_entry_id

_RUNS = "/v1/runs"
_MEMORY = "/v1/memory/{memoryRef+}"
_ENTRY = f"{_MEMORY}/{{id}}"


def start(call: Call, caller: Principal) -> Answer:
    new = parsed(call, NewMemoryRun)
    started = call.services.memory_runs.start(caller, new, _token(call, caller))
    return json_answer(201, run_document(started))


def end(call: Call, caller: Principal) -> Answer:
    run = call.names["runId"]
    call.services.memory_runs.end(caller, run)
    return json_answer(200, {"runId": run, "ended": True})


def list_entries(call: Call, caller: Principal) -> Answer:
    limit = number(call, "limit", 0, 0, MAX_PAGE_ITEMS)
    listing = Listing(_tag(call), _before(call), limit or MAX_PAGE_ITEMS)
    found = call.services.memories.list(
        caller, call.names["memoryRef"], single(call, "runId"), listing
    )
    return json_answer(200, _listed(found, limit))


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


def get_entry(call: Call, caller: Principal) -> Answer:
    entry = call.services.memories.get(
        caller, call.names["memoryRef"], call.names["id"], single(call, "runId")
    )
    if entry is None:
        message = "no entry that shows here has this id"
        return json_answer(404, {"error": "not_found", "message": message, "entry": None})
    return json_answer(200, {"entry": memory_entry_document(entry)})


def put_entry(call: Call, caller: Principal) -> Answer:
    new = parsed(call, NewMemoryEntry)
    reference = call.names["memoryRef"]
    entry = call.services.memories.put(caller, reference, new, _token(call, caller))
    return json_answer(201, memory_entry_document(entry))


def delete_entry(call: Call, caller: Principal) -> Answer:
    deleted = call.services.memories.delete(
        caller, call.names["memoryRef"], call.names["id"], single(call, "runId")
    )
    return json_answer(200, {"deleted": deleted})


def _token(call: Call, caller: Principal) -> RequestToken | None:
    """The token of an Idempotency-Key. Bodies may hold secrets, so theirs goes in as a digest
    that only this service can make."""
    if call.idempotency_key is None:
        return None
    return call.token(caller, call.services.handles.digest)


def _tag(call: Call) -> str | None:
    tag = single(call, "tag")
    if tag == "":
        raise ValidationFailed("tag", "is empty")
    return tag


def _before(call: Call) -> int | None:
    text = single(call, "before")
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
        start,
        WRITE,
        "Start a run: get the memory of an agent and scope, and a snapshot of it",
        {201: "MemoryRun"},
        body=NewMemoryRun,
        also=(409, 413),
        once=True,
        envelope=True,
    ),
    Route(
        "POST",
        f"{_RUNS}/{{runId}}/end",
        end,
        WRITE,
        "End a run: drop its secrets and its hold on the snapshot",
        {200: "EndedMemoryRun"},
        also=(404,),
        envelope=True,
    ),
    Route(
        "GET",
        _ENTRY,
        get_entry,
        READ,
        "Get an entry that a snapshot shows",
        {200: "FoundMemoryEntry"},
        query=("runId",),
        also=(404, 409),
        envelope=True,
    ),
    Route(
        "DELETE",
        _ENTRY,
        delete_entry,
        WRITE,
        "Delete an entry for all later runs",
        {200: "MemoryEntryDeleted"},
        query=("runId",),
        also=(404, 409),
        envelope=True,
    ),
    Route(
        "GET",
        _MEMORY,
        list_entries,
        READ,
        "List what a snapshot shows",
        {200: "MemoryEntryList"},
        query=("runId", "limit", "tag", "before"),
        also=(404, 409),
        envelope=True,
    ),
    Route(
        "POST",
        _MEMORY,
        put_entry,
        WRITE,
        "Put an entry, clean of the run's secrets",
        {201: "MemoryEntry"},
        body=NewMemoryEntry,
        also=(404, 409, 413, 422),
        once=True,
        envelope=True,
    ),
]

"""Memories of replayable runs, by OpenWOP RFC 0004."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate_uncounted, truncate_to_limit
from functions.api.parameters import (
    UNCOUNTED,
    UNCOUNTED_PAGE,
    VALUES,
    IntegerParameter,
    TextParameter,
    read_either,
)
from functions.api.responses.openwop import (
    EndedMemoryRunDocument,
    FoundMemoryEntryDocument,
    MemoryEntryDeletedDocument,
    MemoryEntryDocument,
    MemoryEntryListDocument,
    MemoryRunListDocument,
    MemoryRunStateDocument,
    SeenMemoryEntryListDocument,
    StartedMemoryRunDocument,
    render_memory_entry,
    render_run_state,
    render_seen_entry,
    render_started_run,
)
from functions.api.routing import ANY, Route
from functions.api.value_fields import omit_values
from functions.containers.openwop import OpenWopContainer
from functions.identity.model import READ, WRITE, Principal
from functions.openwop.authority import CHANGE_RUN, DELETE_RUN
from functions.openwop.model import EntryListQuery, MemoryEntry, MemoryRun
from functions.openwop.requests import NewMemoryEntry, NewMemoryRun, NewSecrets
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.openwop_keys import parse_memory_entry_id

Document = TypeVar("Document")
_RUNS = "/v1/runs"
_RUN = f"{_RUNS}/{{runId}}"
_MEMORY = "/v1/memory/{memoryRef+}"
_ENTRY = f"{_MEMORY}/{{id}}"
_RUN_ID = TextParameter(
    "runId", "A run on this memory; its snapshot shows. The present unless given."
)
_MEMORY_REF = TextParameter("memoryRef", "Which of the run's memories; the first one unless given.")
_TAG = TextParameter("tag", "Entries that have this tag.")
_AFTER, _BEFORE = (
    TextParameter(
        name, meaning, pattern="mem_[0-9a-hjkmnp-tv-z]{22}", expected="is the id of an entry"
    )
    for name, meaning in (
        ("after", "Where the page begins: the `next` of the page before."),
        ("before", "Entries older than the one with this id; the same as `after`."),
    )
)
_LIMIT = IntegerParameter(
    "limit",
    "How many to answer at most; 0 is no limit of yours, and 1,000 or 5 MB.",
    0,
    MAX_PAGE_ITEMS,
    0,
)
_LIST = (_LIMIT, _TAG, _AFTER, _BEFORE, UNCOUNTED, VALUES)


def start_memory_run(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewMemoryRun)
    run = request.services.get(OpenWopContainer).memory_runs.start(
        caller, new, request.optional_idempotency_token(caller)
    )
    return json_response(201, render_started_run(run, _references(request, caller, run)))


def get_memory_run(request: Request, caller: Principal) -> Response:
    run = request.services.get(OpenWopContainer).memory_runs.get(
        caller, request.path_params["runId"]
    )
    return json_response(200, _render_state(request, caller, run))


def list_memory_runs(request: Request, caller: Principal) -> Response:
    page, position = paginate_uncounted(
        request,
        caller,
        partial(request.services.get(OpenWopContainer).memory_runs.list_own, caller),
        lambda run: _render_state(request, caller, run),
        lambda run: run.list_position,
    )
    return json_response(200, MemoryRunListDocument(runs=page, **position))


def add_run_secrets(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewSecrets)
    run = request.services.get(OpenWopContainer).memory_runs.add_secrets(
        caller, request.path_params["runId"], new
    )
    return json_response(200, _render_state(request, caller, run))


def list_seen_entries(request: Request, caller: Principal) -> Response:
    services, limit = request.services, _LIMIT.read(request)
    reference, found = services.get(OpenWopContainer).memories.list_seen(
        caller, request.path_params["runId"], _MEMORY_REF.read(request), _query(request, limit)
    )
    seen, next_id = _take_page(found, limit, lambda entry: render_seen_entry(entry, reference))
    document = SeenMemoryEntryListDocument(entries=seen)
    if next_id is not None:
        document["next"] = next_id
    return _list_response(request, document, SeenMemoryEntryListDocument)


def delete_memory_run(request: Request, caller: Principal) -> Response:
    request.services.get(OpenWopContainer).memory_runs.delete(caller, request.path_params["runId"])
    return Response(204)


def end_memory_run(request: Request, caller: Principal) -> Response:
    run = request.path_params["runId"]
    request.services.get(OpenWopContainer).memory_runs.end(caller, run)
    return json_response(200, EndedMemoryRunDocument(runId=run, ended=True))


def list_memory_entries(request: Request, caller: Principal) -> Response:
    limit = _LIMIT.read(request)
    found = request.services.get(OpenWopContainer).memories.list(
        caller, request.path_params["memoryRef"], _RUN_ID.read(request), _query(request, limit)
    )
    entries, next_id = _take_page(found, limit, render_memory_entry)
    document = MemoryEntryListDocument(entries=entries)
    if next_id is not None:
        document["next"] = next_id
    return _list_response(request, document, MemoryEntryListDocument)


def _list_response(request: Request, document: Mapping[str, Any], document_type: Any) -> Response:
    response = json_response(200, document)
    return response if VALUES.read(request) is None else omit_values(response, document_type)


def _query(request: Request, limit: int) -> EntryListQuery:
    UNCOUNTED.read(request)
    return EntryListQuery(_TAG.read(request), _before(request), (limit or MAX_PAGE_ITEMS) + 1)


def _take_page(
    found: Iterator[MemoryEntry], limit: int, render: Callable[[MemoryEntry], Document]
) -> tuple[list[Document], str | None]:
    """Render a page, and get where to continue if there is more."""
    taken: list[MemoryEntry] = []

    def documents() -> Iterator[Document]:
        for entry in islice(found, limit or MAX_PAGE_ITEMS):
            taken.append(entry)
            yield render(entry)

    page = truncate_to_limit(documents())
    if len(page) == len(taken) and next(found, None) is None:
        return page, None
    return page, taken[len(page) - 1].id


def get_memory_entry(request: Request, caller: Principal) -> Response:
    entry = request.services.get(OpenWopContainer).memories.get(
        caller, request.path_params["memoryRef"], request.path_params["id"], _RUN_ID.read(request)
    )
    if entry is None:
        message = "no entry that shows here has this id"
        return json_response(404, {"error": "not_found", "message": message, "entry": None})
    return json_response(200, FoundMemoryEntryDocument(entry=render_memory_entry(entry)))


def put_memory_entry(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewMemoryEntry)
    reference = request.path_params["memoryRef"]
    entry = request.services.get(OpenWopContainer).memories.put(
        caller, reference, new, request.optional_idempotency_token(caller)
    )
    return json_response(201, render_memory_entry(entry))


def delete_memory_entry(request: Request, caller: Principal) -> Response:
    deleted = request.services.get(OpenWopContainer).memories.delete(
        caller, request.path_params["memoryRef"], request.path_params["id"], _RUN_ID.read(request)
    )
    return json_response(200, MemoryEntryDeletedDocument(deleted=deleted))


def _references(request: Request, caller: Principal, run: MemoryRun) -> list[str]:
    """Return the references of a run's memories, in the order of the request."""
    make = request.services.get(OpenWopContainer).memory_references.make_reference
    return [make(caller.tenant, memory) for memory in run.memories]


def _render_state(request: Request, caller: Principal, run: MemoryRun) -> MemoryRunStateDocument:
    return render_run_state(run, _references(request, caller, run), request.services.clock())


def _before(request: Request) -> int | None:
    """Return the position of the entry that the list begins after."""
    text = read_either(request, _AFTER, _BEFORE)
    if text is None:
        return None
    named = parse_memory_entry_id(text)
    if named is None:
        raise ValidationFailed(_BEFORE.name, _BEFORE.expected)
    return named[0]


ROUTES = [
    Route(
        f"POST {_RUNS}",
        start_memory_run,
        READ,
        "Start a run: get a snapshot of memories, or replay a run",
        {201: StartedMemoryRunDocument},
        request_model=NewMemoryRun,
        error_statuses=(404, 409, 413, 429),
        idempotent=True,
        description="With an `agent` and a `scope` it is on the memory that the caller, or its "
        "agent type, has under these names; with `memoryRef` or `memoryRefs` on memories whose "
        "references the caller holds. With `replayOf` it is a new run that reads, to the byte and "
        "the order, what that run reads or read. A run is over when it is ended, or after its "
        "`ttl`. While it is open, no put into its memories stores one of its secrets.",
    ),
    Route(
        f"GET {_RUNS}",
        list_memory_runs,
        READ,
        "List the runs that you started, newest first",
        {200: MemoryRunListDocument},
        query=UNCOUNTED_PAGE,
        description="Until a day after their snapshots were dropped. Others' runs are in no list, "
        "since who knows a run's id may use it.",
    ),
    Route(
        f"GET {_RUN}",
        get_memory_run,
        READ,
        "Get the state of a run",
        {200: MemoryRunStateDocument},
        error_statuses=(404,),
        description="Until a day after its snapshot was dropped.",
    ),
    Route(
        f"DELETE {_RUN}",
        delete_memory_run,
        ANY,
        "Delete a run with its secrets and its hold on its snapshot",
        {204: None},
        error_statuses=(404,),
        description="Who started it may, and `memory.admin`. Replays of it keep the snapshot.",
        audited=(DELETE_RUN,),
    ),
    Route(
        f"GET {_RUN}/entries",
        list_seen_entries,
        READ,
        "List what a run sees or saw, with who put each entry and when it was deleted",
        {200: SeenMemoryEntryListDocument},
        query=(_MEMORY_REF, *_LIST),
        error_statuses=(404, 409),
        description="Newest first, of open and closed runs, as long as the snapshot is kept.",
    ),
    Route(
        f"POST {_RUN}/secrets",
        add_run_secrets,
        READ,
        "Give an open run a secret that it learned on the way",
        {200: MemoryRunStateDocument},
        request_model=NewSecrets,
        error_statuses=(404, 409, 413, 429),
        description="From the answer on, no put into the run's memories stores it. What was put "
        "before stays as it is. Again changes nothing.",
        audited=(CHANGE_RUN,),
    ),
    Route(
        f"POST {_RUN}/end",
        end_memory_run,
        READ,
        "End a run: drop its secrets; its snapshot is kept for replays",
        {200: EndedMemoryRunDocument},
        error_statuses=(404,),
        description="Who started it may, and who holds its id and `memory.write`. Again changes "
        "nothing.",
        audited=(CHANGE_RUN,),
    ),
    Route(
        f"GET {_ENTRY}",
        get_memory_entry,
        READ,
        "Get an entry that a snapshot shows",
        {200: FoundMemoryEntryDocument},
        query=(_RUN_ID,),
        error_statuses=(404, 409),
    ),
    Route(
        f"DELETE {_ENTRY}",
        delete_memory_entry,
        WRITE,
        "Delete an entry for all later runs",
        {200: MemoryEntryDeletedDocument},
        query=(_RUN_ID,),
        error_statuses=(404, 409),
        description="Snapshots that are kept continue showing it; after the last of them it leaves "
        "the storage.",
    ),
    Route(
        f"GET {_MEMORY}",
        list_memory_entries,
        READ,
        "List what a snapshot shows",
        {200: MemoryEntryListDocument},
        query=(_RUN_ID, *_LIST),
        error_statuses=(404, 409),
        description="Newest first. In a run it is always the same, but for entries that "
        "expire; without one it is what there is now.",
    ),
    Route(
        f"POST {_MEMORY}",
        put_memory_entry,
        WRITE,
        "Put an entry, clean of the secrets of the memory's open runs",
        {201: MemoryEntryDocument},
        request_model=NewMemoryEntry,
        error_statuses=(404, 409, 413, 422),
        idempotent=True,
        description="Each secret is replaced by `<REDACTED:label>` before anything is stored, or "
        "refused if the run that puts rejects secrets. Empty tags are dropped.",
    ),
]

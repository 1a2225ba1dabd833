"""Runs on memories, by OpenWOP RFC 0004."""

from functools import partial
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from functions.api.documents import Timestamp, UncountedPosition, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate_uncounted
from functions.api.parameters import UNCOUNTED_PAGE
from functions.api.responses.runs import RunId
from functions.api.routing import ANY, PUBLIC, RouteTable
from functions.api.static_files import read_openapi_document
from functions.identity.model import READ, Principal
from functions.openwop.authority import CHANGE_RUN, DELETE_RUN
from functions.openwop.model import MemoryRun, OnSecret, RunState
from functions.openwop.requests import NewMemoryRun, NewSecrets
from functions.platform.clock import to_rfc3339
from functions.platform.openwop_keys import get_timestamp_of_sequence


class StartedMemoryRunDocument(TypedDict):
    """A run that was started."""

    runId: RunId
    memoryRef: str
    """An opaque reference, which gives its holders access to the memory; the first of several."""
    memoryRefs: NotRequired[list[str]]
    """The references of all memories, if there are several."""
    snapshotAt: Timestamp
    """The time when the snapshot was taken."""


class MemoryRunStateDocument(TypedDict):
    """The state of a run."""

    runId: RunId
    state: RunState
    """`expired`: its `ttl` has passed."""
    memoryRef: str
    memoryRefs: list[str]
    snapshotAt: Timestamp
    """The time when the snapshot was taken."""
    startedAt: Timestamp
    endsAt: Timestamp
    """The time when the run ended, or will expire."""
    snapshotKeptUntil: Timestamp
    """The time until which the run can be replayed; earlier if it is ended before its `ttl`."""
    isReplayable: bool
    startedBy: str
    """The principal that started it."""
    onSecret: OnSecret
    secrets: list[str]
    """The labels of the run's secrets."""
    agent: NotRequired[str]
    """The agent of the memory; absent if the run was started by references or as a replay, or if
    the name contains one of the run's secrets."""
    scope: NotRequired[str]
    """The scope of the memory; absent as `agent`."""
    replayOf: NotRequired[str]
    """The run whose snapshot it reads."""


class MemoryRunListDocument(UncountedPosition):
    """A page of runs."""

    runs: list[MemoryRunStateDocument]


class EndedMemoryRunDocument(TypedDict):
    """The ended run."""

    runId: str
    ended: Literal[True]


def render_started_run(run: MemoryRun, references: list[str]) -> StartedMemoryRunDocument:
    snapshot_at = to_rfc3339(get_timestamp_of_sequence(run.snapshot))
    document = to_document(
        run, StartedMemoryRunDocument, memoryRef=references[0], snapshotAt=snapshot_at
    )
    if len(references) > 1:
        document["memoryRefs"] = references
    return document


def render_run_state(run: MemoryRun, references: list[str], now: int) -> MemoryRunStateDocument:
    state = run.get_state(now)
    return to_document(
        run,
        MemoryRunStateDocument,
        state=state,
        memoryRef=references[0],
        memoryRefs=references,
        snapshotAt=to_rfc3339(get_timestamp_of_sequence(run.snapshot)),
        isReplayable=run.snapshot_kept_until > now,
        secrets=list(dict.fromkeys(run.secrets)) if state == "open" else [],
    )


ROUTES = RouteTable()

_RUNS = "/v1/runs"

_RUN = f"{_RUNS}/{{runId}}"


@ROUTES.add("GET /v1/openapi.json", PUBLIC, {200: dict})
def get_openwop_description(_request: Request, _caller: Principal) -> Response:
    """Get this document at OpenWOP's address."""
    return read_openapi_document()


@ROUTES.add(
    f"POST {_RUNS}",
    READ,
    {201: StartedMemoryRunDocument},
    error_statuses=(404, 409),
    idempotent=True,
)
def start_memory_run(request: Request, caller: Principal, new: NewMemoryRun) -> Response:
    """Start a run: get a snapshot of memories, or replay a run.

    `agent` and `scope` name a memory of the caller, or of its agent type; `memoryRef` or
    `memoryRefs` name memories by reference. With `replayOf`, the new run reads exactly the entries
    of that run, in the same order. A run ends by a request, or after its `ttl`. While it is open,
    its secrets are redacted in all puts into its memories.
    """
    run = request.services.memory_runs.start(
        caller, new, request.optional_idempotency_token(caller)
    )
    return json_response(201, render_started_run(run, _references(request, caller, run)))


@ROUTES.add(f"GET {_RUNS}", READ, {200: MemoryRunListDocument}, query=UNCOUNTED_PAGE)
def list_memory_runs(request: Request, caller: Principal) -> Response:
    """List the runs that you started, newest first.

    A run is listed until {ENDED_OPENWOP_RUN_LIFETIME} after its snapshot expires. Others' runs are
    never listed, because a run's id is enough to use it.
    """
    page, position = paginate_uncounted(
        request,
        caller,
        partial(request.services.memory_runs.list_own, caller),
        lambda run: _render_state(request, caller, run),
    )
    return json_response(200, MemoryRunListDocument(runs=page, **position))


@ROUTES.add(f"GET {_RUN}", READ, {200: MemoryRunStateDocument})
def get_memory_run(request: Request, caller: Principal) -> Response:
    """Get the state of a run.

    A run is found until {ENDED_OPENWOP_RUN_LIFETIME} after its snapshot expires.
    """
    run = request.services.memory_runs.get(caller, request.path_params["runId"])
    return json_response(200, _render_state(request, caller, run))


@ROUTES.add(f"DELETE {_RUN}", ANY, {204: None}, audited=(DELETE_RUN,))
def delete_memory_run(request: Request, caller: Principal) -> Response:
    """Delete a run with its secrets; its snapshot is no longer kept for it.

    For the principal that started it, and with `memory.admin`. Replays of it keep the snapshot.
    """
    request.services.memory_runs.delete(caller, request.path_params["runId"])
    return Response(204)


@ROUTES.add(
    f"POST {_RUN}/secrets",
    READ,
    {200: MemoryRunStateDocument},
    error_statuses=(404, 409),
    audited=(CHANGE_RUN,),
)
def add_run_secrets(request: Request, caller: Principal, new: NewSecrets) -> Response:
    """Add a secret to an open run.

    After the response, puts into the run's memories redact it. Earlier entries stay unchanged.
    Repeating the request changes nothing.
    """
    run = request.services.memory_runs.add_secrets(caller, request.path_params["runId"], new)
    return json_response(200, _render_state(request, caller, run))


def _references(request: Request, caller: Principal, run: MemoryRun) -> list[str]:
    """Return the references of a run's memories, in the order of the request."""
    make = request.services.memory_references.make_reference
    return [make(caller.tenant, memory) for memory in run.memories]


def _render_state(request: Request, caller: Principal, run: MemoryRun) -> MemoryRunStateDocument:
    return render_run_state(run, _references(request, caller, run), request.services.clock())


@ROUTES.add(f"POST {_RUN}/end", READ, {200: EndedMemoryRunDocument}, audited=(CHANGE_RUN,))
def end_memory_run(request: Request, caller: Principal) -> Response:
    """End a run: delete its secrets, and keep its snapshot for replays.

    For the principal that started it, and for holders of its id with `memory.write`. Repeating the
    request changes
    nothing.
    """
    run = request.path_params["runId"]
    request.services.memory_runs.end(caller, run)
    return json_response(200, EndedMemoryRunDocument(runId=run, ended=True))

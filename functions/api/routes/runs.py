"""Runs of agents and their episodes, by ADR-043 Tier 2 (contract §8)."""

from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from functions.api.http import Request, Response, json_response
from functions.api.paging import page_position, truncate_to_limit
from functions.api.parameters import (
    LIMIT,
    OFFSET,
    PAGE,
    ChoiceParameter,
    IntegerParameter,
    TextParameter,
)
from functions.api.responses.runs import (
    EpisodeDocument,
    EpisodePageDocument,
    RunDocument,
    RunPageDocument,
    render_episode,
    render_run,
)
from functions.api.routing import Route
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import DEFAULT_RECALLED_EPISODES, MAX_ID_CHARACTERS, MAX_PAGE_ITEMS
from functions.runs.model import Episode, Run, RunStatus
from functions.runs.requests import NewEpisode, NewRun, RunError, RunOutput

_RUNS = "/api/v1/runs"
_RUN = f"{_RUNS}/{{run_id}}"
_AGENT_TYPE = TextParameter(
    "agent_type", "The agent type that runs were started with.", MAX_ID_CHARACTERS
)
_RUN_ID = TextParameter("run_id", "A run, in place of an agent type.")
_STATUS: ChoiceParameter[RunStatus] = ChoiceParameter("status", "The runs' status.", RunStatus)
_EPISODE_LIMIT = IntegerParameter(
    "limit", "How many to answer at most.", 1, MAX_PAGE_ITEMS, DEFAULT_RECALLED_EPISODES
)
_BEFORE = TextParameter(
    "before",
    "Episodes older than the one with this id: the `next` of an earlier answer.",
    pattern="epi_[0-9a-hjkmnp-tv-z]{36}",
    expected="is the id of an episode: the `next` of an earlier answer",
)


def start_run(request: Request, caller: Principal) -> Response:
    run = request.services.runs.start(
        caller, request.parse_body(NewRun), request.idempotency_token(caller)
    )
    return _run_response(201, run, location=f"{_RUNS}/{quote(run.id, safe='')}")


def get_run(request: Request, caller: Principal) -> Response:
    return _run_response(200, request.services.runs.get(caller, request.path_params["run_id"]))


def complete_run(request: Request, caller: Principal) -> Response:
    output, run_id = request.parse_body(RunOutput).output, request.path_params["run_id"]
    return _run_response(
        200,
        request.services.runs.complete(caller, run_id, output, request.idempotency_token(caller)),
    )


def fail_run(request: Request, caller: Principal) -> Response:
    error, run_id = request.parse_body(RunError).error, request.path_params["run_id"]
    return _run_response(
        200, request.services.runs.fail(caller, run_id, error, request.idempotency_token(caller))
    )


def list_runs(request: Request, caller: Principal) -> Response:
    limit, offset = LIMIT.read(request), OFFSET.read(request)
    agent_type = _AGENT_TYPE.read(request)
    if agent_type is None:
        raise ValidationFailed("agent_type", "is required: whose runs to list")
    found, total = request.services.runs.list_by_type(
        caller, agent_type, _STATUS.read(request), limit, offset
    )
    page = truncate_to_limit(map(render_run, found))
    position = page_position(total, limit, offset, len(page))
    return json_response(200, RunPageDocument(runs=page, **position))


def append_episode(request: Request, caller: Principal) -> Response:
    token = request.optional_idempotency_token(caller)
    new, run_id = request.parse_body(NewEpisode), request.path_params["run_id"]
    episode = request.services.episodes.append(caller, run_id, new, token)
    return json_response(201, render_episode(episode))


def recall_episodes(request: Request, caller: Principal) -> Response:
    limit, before = _EPISODE_LIMIT.read(request), _BEFORE.read(request)
    agent_type, run_id = _AGENT_TYPE.read(request), _RUN_ID.read(request)
    if (agent_type is None) == (run_id is None):
        raise ValidationFailed("agent_type", "is required, or else run_id: give one of the two")
    if agent_type is not None:
        found = request.services.episodes.list_by_type(caller, agent_type, before, limit + 1)
    else:
        run, found = request.services.episodes.list_by_run(caller, str(run_id), before, limit + 1)
        agent_type = run.agent_type
    return json_response(200, _episode_page(found, agent_type, limit))


def _episode_page(found: Iterator[Episode], agent_type: str, limit: int) -> EpisodePageDocument:
    """Render a page of episodes; `next` is where to go on, if there are more."""
    taken: list[Episode] = []

    def documents() -> Iterator[EpisodeDocument]:
        for episode in islice(found, limit):
            taken.append(episode)
            yield render_episode(episode, agent_type)

    page = truncate_to_limit(documents())
    if len(page) == len(taken) and next(found, None) is None:
        return {"episodes": page, "limit": limit}
    return {"episodes": page, "limit": limit, "next": taken[len(page) - 1].id}


def _run_response(status: int, run: Run, **headers: str) -> Response:
    return json_response(status, render_run(run), etag=f'"{run.version}"', **headers)


ROUTES = [
    Route(
        "POST",
        _RUNS,
        start_run,
        WRITE,
        "Start a run",
        {201: RunDocument},
        response_headers=(
            "ETag",
            "Location",
        ),
        request_model=NewRun,
        error_statuses=(409, 413),
        idempotent=True,
        description="The id is the run's whole address, so episodes can be appended without a "
        "look at the run.",
    ),
    Route(
        "GET",
        _RUNS,
        list_runs,
        READ,
        "List an agent type's runs, newest first",
        {200: RunPageDocument},
        query=(_AGENT_TYPE, _STATUS, *PAGE),
    ),
    Route(
        "GET",
        _RUN,
        get_run,
        READ,
        "Get a run",
        {200: RunDocument},
        response_headers=("ETag",),
        error_statuses=(404,),
    ),
    Route(
        "POST",
        f"{_RUN}/complete",
        complete_run,
        WRITE,
        "End a run that went well",
        {200: RunDocument},
        response_headers=("ETag",),
        request_model=RunOutput,
        error_statuses=(404, 409, 413),
        idempotent=True,
    ),
    Route(
        "POST",
        f"{_RUN}/fail",
        fail_run,
        WRITE,
        "End a run that failed",
        {200: RunDocument},
        response_headers=("ETag",),
        request_model=RunError,
        error_statuses=(404, 409, 413),
        idempotent=True,
    ),
    Route(
        "POST",
        f"{_RUN}/episodes",
        append_episode,
        WRITE,
        "Append an episode to a run",
        {201: EpisodeDocument},
        request_model=NewEpisode,
        error_statuses=(404, 409, 413),
        idempotent=True,
        description="One write. Late episodes are taken, too: a run that has ended says so "
        "itself. With an Idempotency-Key a retry finds the first one.",
    ),
    Route(
        "GET",
        "/api/v1/episodes",
        recall_episodes,
        READ,
        "Recall the newest episodes of an agent type, or of a run",
        {200: EpisodePageDocument},
        query=(_AGENT_TYPE, _RUN_ID, _EPISODE_LIMIT, _BEFORE),
        error_statuses=(404,),
        description="Newest first. Those of an agent type come in one query, across its runs, "
        "from an index that may be a moment behind; those of a run are complete. "
        "There is no total: it would take reading all of them.",
    ),
]

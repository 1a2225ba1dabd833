"""Runs of agents and their episodes, by ADR-043 Tier 2 (contract §8)."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, cast, get_args
from urllib.parse import quote

from functions.api.http import Request, Response, json_response
from functions.api.paging import PAGE, cut, envelope, limits, number, single
from functions.api.routing import Route
from functions.api.run_documents import episode_document, run_document
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import DEFAULT_RECALLED_EPISODES, MAX_ID_CHARACTERS, MAX_PAGE_ITEMS
from functions.platform.run_keys import parse_episode_id
from functions.runs.model import Episode, Run, RunStatus
from functions.runs.requests import NewEpisode, NewRun, RunError, RunOutput

_RUNS = "/api/v1/runs"
_RUN = f"{_RUNS}/{{run_id}}"


def start_run(request: Request, caller: Principal) -> Response:
    run = request.services.runs.start(
        caller, request.parse_body(NewRun), request.idempotency_token(caller)
    )
    return _response(201, run, location=f"{_RUNS}/{quote(run.id, safe='')}")


def get_run(request: Request, caller: Principal) -> Response:
    return _response(200, request.services.runs.get(caller, request.path_params["run_id"]))


def complete_run(request: Request, caller: Principal) -> Response:
    output, run_id = request.parse_body(RunOutput).output, request.path_params["run_id"]
    return _response(
        200,
        request.services.runs.complete(caller, run_id, output, request.idempotency_token(caller)),
    )


def fail_run(request: Request, caller: Principal) -> Response:
    error, run_id = request.parse_body(RunError).error, request.path_params["run_id"]
    return _response(
        200, request.services.runs.fail(caller, run_id, error, request.idempotency_token(caller))
    )


def list_runs(request: Request, caller: Principal) -> Response:
    limit, offset = limits(request)
    agent_type = _agent_type(request)
    if agent_type is None:
        raise ValidationFailed("agent_type", "is required: whose runs to list")
    found, total = request.services.runs.of_type(
        caller, agent_type, _status(request), limit, offset
    )
    page = cut(map(run_document, found))
    return json_response(200, envelope("runs", page, total, limit, offset, len(page)))


def append_episode(request: Request, caller: Principal) -> Response:
    token = request.optional_idempotency_token(caller)
    new, run_id = request.parse_body(NewEpisode), request.path_params["run_id"]
    episode = request.services.episodes.append(caller, run_id, new, token)
    return json_response(201, episode_document(episode))


def recall_episodes(request: Request, caller: Principal) -> Response:
    limit, before = (
        number(request, "limit", DEFAULT_RECALLED_EPISODES, 1, MAX_PAGE_ITEMS),
        _before(request),
    )
    agent_type, run_id = _agent_type(request), single(request, "run_id")
    if (agent_type is None) == (run_id is None):
        raise ValidationFailed("agent_type", "is required, or else run_id: give one of the two")
    if agent_type is not None:
        found = request.services.episodes.of_type(caller, agent_type, before, limit + 1)
    else:
        run, found = request.services.episodes.of_run(caller, str(run_id), before, limit + 1)
        agent_type = run.agent_type
    return json_response(200, _recalled(found, agent_type, limit) | {"limit": limit})


def _recalled(found: Iterator[Episode], agent_type: str, limit: int) -> dict[str, Any]:
    """A page of episodes; `next` is where to go on, if there are more."""
    taken: list[Episode] = []

    def documents() -> Iterator[Any]:
        for episode in islice(found, limit):
            taken.append(episode)
            yield episode_document(episode, agent_type)

    page = cut(documents())
    if len(page) == len(taken) and next(found, None) is None:
        return {"episodes": page}
    return {"episodes": page, "next": taken[len(page) - 1].id}


def _agent_type(request: Request) -> str | None:
    text = single(request, "agent_type")
    if text is not None and not 0 < len(text) <= MAX_ID_CHARACTERS:
        raise ValidationFailed("agent_type", f"has 1 to {MAX_ID_CHARACTERS} characters")
    return text


def _status(request: Request) -> RunStatus | None:
    text = single(request, "status")
    if text is not None and text not in get_args(RunStatus):
        raise ValidationFailed("status", f"is one of {', '.join(get_args(RunStatus))}")
    return cast("RunStatus | None", text)


def _before(request: Request) -> str | None:
    text = single(request, "before")
    if text is not None and parse_episode_id(text) is None:
        raise ValidationFailed("before", "is the id of an episode: the `next` of an earlier answer")
    return text


def _response(status: int, run: Run, **headers: str) -> Response:
    return json_response(status, run_document(run), etag=f'"{run.version}"', **headers)


ROUTES = [
    Route(
        "POST",
        _RUNS,
        start_run,
        WRITE,
        "Start a run",
        {201: "Run"},
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
        {200: "RunPage"},
        query=("agent_type", "status", *PAGE),
    ),
    Route("GET", _RUN, get_run, READ, "Get a run", {200: "Run"}, error_statuses=(404,)),
    Route(
        "POST",
        f"{_RUN}/complete",
        complete_run,
        WRITE,
        "End a run that went well",
        {200: "Run"},
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
        {200: "Run"},
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
        {201: "Episode"},
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
        {200: "EpisodePage"},
        query=("agent_type", "run_id", "limit", "before"),
        error_statuses=(404,),
        description="Newest first. Those of an agent type come in one query, across its runs, "
        "from an index that may be a moment behind; those of a run are complete. "
        "There is no total: it would take reading all of them.",
    ),
]

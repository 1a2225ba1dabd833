"""Runs of agents and their episodes, by ADR-043 Tier 2 (contract §8)."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, cast, get_args
from urllib.parse import quote

from functions.api.call import Answer, Call, json_answer
from functions.api.paging import PAGE, cut, envelope, limits, number, single
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.api.run_documents import episode_document, run_document
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import DEFAULT_RECALLED_EPISODES, MAX_ID_CHARACTERS, MAX_PAGE_ITEMS
from functions.platform.run_keys import order_of_episode
from functions.runs.model import Episode, Run, RunStatus
from functions.runs.requests import NewEpisode, NewRun, RunError, RunOutput

_RUNS = "/api/v1/runs"
_RUN = f"{_RUNS}/{{run_id}}"


def start(call: Call, caller: Principal) -> Answer:
    run = call.services.runs.start(caller, parsed(call, NewRun), call.token(caller))
    return _answer(201, run, location=f"{_RUNS}/{quote(run.id, safe='')}")


def get(call: Call, caller: Principal) -> Answer:
    return _answer(200, call.services.runs.get(caller, call.names["run_id"]))


def complete(call: Call, caller: Principal) -> Answer:
    output, run_id = parsed(call, RunOutput).output, call.names["run_id"]
    return _answer(200, call.services.runs.complete(caller, run_id, output, call.token(caller)))


def fail(call: Call, caller: Principal) -> Answer:
    error, run_id = parsed(call, RunError).error, call.names["run_id"]
    return _answer(200, call.services.runs.fail(caller, run_id, error, call.token(caller)))


def of_type(call: Call, caller: Principal) -> Answer:
    limit, offset = limits(call)
    agent_type = _agent_type(call)
    if agent_type is None:
        raise ValidationFailed("agent_type", "is required: whose runs to list")
    found, total = call.services.runs.of_type(caller, agent_type, _status(call), limit, offset)
    page = cut(map(run_document, found))
    return json_answer(200, envelope("runs", page, total, limit, offset, len(page)))


def append(call: Call, caller: Principal) -> Answer:
    token = None if call.idempotency_key is None else call.token(caller)
    new, run_id = parsed(call, NewEpisode), call.names["run_id"]
    episode = call.services.episodes.append(caller, run_id, new, token)
    return json_answer(201, episode_document(episode))


def recall(call: Call, caller: Principal) -> Answer:
    limit, before = (
        number(call, "limit", DEFAULT_RECALLED_EPISODES, 1, MAX_PAGE_ITEMS),
        _before(call),
    )
    agent_type, run_id = _agent_type(call), single(call, "run_id")
    if (agent_type is None) == (run_id is None):
        raise ValidationFailed("agent_type", "is required, or else run_id: give one of the two")
    if agent_type is not None:
        found = call.services.episodes.of_type(caller, agent_type, before, limit + 1)
    else:
        run, found = call.services.episodes.of_run(caller, str(run_id), before, limit + 1)
        agent_type = run.agent_type
    return json_answer(200, _recalled(found, agent_type, limit) | {"limit": limit})


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


def _agent_type(call: Call) -> str | None:
    text = single(call, "agent_type")
    if text is not None and not 0 < len(text) <= MAX_ID_CHARACTERS:
        raise ValidationFailed("agent_type", f"has 1 to {MAX_ID_CHARACTERS} characters")
    return text


def _status(call: Call) -> RunStatus | None:
    text = single(call, "status")
    if text is not None and text not in get_args(RunStatus):
        raise ValidationFailed("status", f"is one of {', '.join(get_args(RunStatus))}")
    return cast("RunStatus | None", text)


def _before(call: Call) -> str | None:
    text = single(call, "before")
    if text is not None and order_of_episode(text) is None:
        raise ValidationFailed("before", "is the id of an episode: the `next` of an earlier answer")
    return text


def _answer(status: int, run: Run, **headers: str) -> Answer:
    return json_answer(status, run_document(run), etag=f'"{run.version}"', **headers)


ROUTES = [
    Route(
        "POST",
        _RUNS,
        start,
        WRITE,
        "Start a run",
        {201: "Run"},
        body=NewRun,
        also=(409, 413),
        once=True,
    ),
    Route(
        "GET",
        _RUNS,
        of_type,
        READ,
        "List an agent type's runs, newest first",
        {200: "RunPage"},
        query=("agent_type", "status", *PAGE),
    ),
    Route("GET", _RUN, get, READ, "Get a run", {200: "Run"}, also=(404,)),
    Route(
        "POST",
        f"{_RUN}/complete",
        complete,
        WRITE,
        "End a run that went well",
        {200: "Run"},
        body=RunOutput,
        also=(404, 409, 413),
        once=True,
    ),
    Route(
        "POST",
        f"{_RUN}/fail",
        fail,
        WRITE,
        "End a run that failed",
        {200: "Run"},
        body=RunError,
        also=(404, 409, 413),
        once=True,
    ),
    Route(
        "POST",
        f"{_RUN}/episodes",
        append,
        WRITE,
        "Append an episode to a run",
        {201: "Episode"},
        body=NewEpisode,
        also=(404, 409, 413),
        once=True,
    ),
    Route(
        "GET",
        "/api/v1/episodes",
        recall,
        READ,
        "Recall the newest episodes of an agent type, or of a run",
        {200: "EpisodePage"},
        query=("agent_type", "run_id", "limit", "before"),
        also=(404,),
    ),
]

"""Runs of agents and their episodes, by ADR-043 Tier 2."""

from functools import partial
from operator import attrgetter, itemgetter
from urllib.parse import quote

from functions.api.http import Request, Response, json_response
from functions.api.paging import (
    paginate,
    read_cursor,
    read_page_request,
    render_page,
    sign_cursor,
)
from functions.api.parameters import (
    AFTER,
    CURSOR_PAGE,
    UNCOUNTED,
    VALUES,
    VALUES_OF_ANSWER,
    ChoiceParameter,
    IntegerParameter,
    TextParameter,
)
from functions.api.responses.runs import (
    AgentTypePageDocument,
    DeletedRunsDocument,
    EpisodeDocument,
    EpisodePageDocument,
    RunDocument,
    RunPageDocument,
    render_agent_type,
    render_episode,
    render_run,
    render_run_head,
    render_run_value,
)
from functions.api.routing import ANY, RouteTable
from functions.identity.model import READ, WRITE, Principal
from functions.platform import limits
from functions.platform.bounded_pages import WantedPage
from functions.platform.errors import ValidationFailed
from functions.runs.authority import APPEND_EPISODE, DELETE_EPISODES, DELETE_RUN, END_RUN
from functions.runs.model import RunQuery, RunResult, RunStatus, RunValue
from functions.runs.requests import NewEpisode, NewRun, RunError, RunOutput

ROUTES = RouteTable()
_RUNS = "/api/v1/runs"
_RUN = f"{_RUNS}/{{run_id}}"
_AGENT_TYPE = TextParameter("agent_type", "Only runs of this agent type.", limits.MAX_ID_CHARACTERS)
_INSTANCE = TextParameter("instance_id", "Only runs of this instance.", limits.MAX_ID_CHARACTERS)
_VALUE: ChoiceParameter[RunValue] = ChoiceParameter(
    "value", "Return only this value. Each value alone fits into a response.", RunValue
)
_RUN_ID = TextParameter("run_id", "A run. Send this or `agent_type`.")
_STATUS: ChoiceParameter[RunStatus] = ChoiceParameter(
    "status", "Only runs with this status.", RunStatus
)
_EPISODE_LIMIT = IntegerParameter(
    "limit",
    "The maximum number of episodes.",
    1,
    limits.MAX_PAGE_ITEMS,
    limits.DEFAULT_RECALLED_EPISODES,
)
_BEFORE = TextParameter("before", "An alias of `after`.", limits.MAX_CURSOR_CHARACTERS)


@ROUTES.add(f"POST {_RUNS}", WRITE, {201: RunDocument}, idempotent=True)
def start_run(request: Request, caller: Principal, new: NewRun) -> Response:
    """Start a run.

    The id contains the run's address, so appending an episode does not read the run.
    """
    run = request.services.runs.start(caller, new, request.idempotency_token(caller))
    location = f"{_RUNS}/{quote(run.id, safe='')}"
    return json_response(201, render_run(run), run.version, location=location)


@ROUTES.add(
    f"GET {_RUNS}",
    READ,
    {200: RunPageDocument},
    query=(_AGENT_TYPE, _INSTANCE, _STATUS, VALUES, *CURSOR_PAGE),
)
def list_runs(request: Request, caller: Principal) -> Response:
    """List the tenant's runs, newest first.

    The index is eventually consistent: a new run may be missing for a moment.
    """
    asked, has_values = read_page_request(request, caller), VALUES.read(request) is None
    found, runs = request.services.runs.list_page(
        caller, _read_query(request), asked.wanted, has_values=has_values
    )
    render = render_run if has_values else render_run_head
    page, end = render_page(runs, asked.wanted.limit, lambda each: render(each[1]), itemgetter(0))
    position = asked.describe(len(page), end or found.end, found.total)
    return json_response(200, RunPageDocument(runs=page, **position))


@ROUTES.add(
    f"DELETE {_RUNS}",
    ANY,
    {200: DeletedRunsDocument},
    query=(_AGENT_TYPE, _INSTANCE, _STATUS),
    audited=(DELETE_RUN, DELETE_EPISODES),
)
def delete_runs(request: Request, caller: Principal) -> Response:
    """Delete the runs that match, with their episodes.

    Needs at least one parameter, and `memory.write` or `memory.admin`. The quota is freed
    immediately.
    """
    query = _read_query(request)
    if query == RunQuery():
        raise ValidationFailed("query", "needs at least one of agent_type, instance_id and status")
    runs, episodes, is_complete = request.services.run_deletions.delete_runs(caller, query)
    return json_response(
        200, DeletedRunsDocument(deleted=runs, episodes=episodes, complete=is_complete)
    )


@ROUTES.add(f"DELETE {_RUN}", ANY, {204: None}, audited=(DELETE_RUN, DELETE_EPISODES))
def delete_run(request: Request, caller: Principal) -> Response:
    """Delete a run with its episodes.

    Needs `memory.write` or `memory.admin`. The quota is freed immediately.
    """
    request.services.run_deletions.delete_run(caller, request.path_params["run_id"])
    return Response(204)


@ROUTES.add(f"DELETE {_RUN}/episodes/{{episode_id}}", ANY, {204: None}, audited=(DELETE_EPISODES,))
def delete_episode(request: Request, caller: Principal) -> Response:
    """Delete an episode.

    Needs `memory.write` or `memory.admin`. The quota is freed immediately.
    """
    run_id, episode_id = request.path_params["run_id"], request.path_params["episode_id"]
    request.services.run_deletions.delete_episode(caller, run_id, episode_id)
    return Response(204)


@ROUTES.add("GET /api/v1/agent-types", READ, {200: AgentTypePageDocument}, query=CURSOR_PAGE)
def list_agent_types(request: Request, caller: Principal) -> Response:
    """List the agent types of the last {RUN_RETENTION_DAYS}, and those with workflows.

    An agent type is listed for {RUN_RETENTION_DAYS} after its last run or fact, and while it has a
    workflow.
    """
    agent_types = request.services.agent_types
    read = partial(agent_types.list_page, caller)
    page, position = paginate(request, caller, read, render_agent_type, attrgetter("agent_type"))
    return json_response(200, AgentTypePageDocument(agent_types=page, **position))


@ROUTES.add(f"GET {_RUN}", READ, {200: RunDocument}, query=(_VALUE,))
def get_run(request: Request, caller: Principal) -> Response:
    """Get a run."""
    run = request.services.runs.get(caller, request.path_params["run_id"])
    value = _VALUE.read(request)
    if value is None:
        return json_response(200, render_run(run), run.version)
    return json_response(200, render_run_value(run, value), run.version)


@ROUTES.add(f"POST {_RUN}/complete", WRITE, {200: RunDocument}, idempotent=True, audited=(END_RUN,))
def complete_run(request: Request, caller: Principal, asked: RunOutput) -> Response:
    """End a run that succeeded."""
    return _end(request, caller, "output", asked.output)


@ROUTES.add(f"POST {_RUN}/fail", WRITE, {200: RunDocument}, idempotent=True, audited=(END_RUN,))
def fail_run(request: Request, caller: Principal, asked: RunError) -> Response:
    """End a run that failed."""
    return _end(request, caller, "error", asked.error)


def _end(request: Request, caller: Principal, field: RunResult, value: object) -> Response:
    run_id, token = request.path_params["run_id"], request.idempotency_token(caller)
    ended = request.services.runs.end(caller, run_id, field, value, token)
    return json_response(200, render_run(ended), ended.version)


def _read_query(request: Request) -> RunQuery:
    return RunQuery(_AGENT_TYPE.read(request), _INSTANCE.read(request), _STATUS.read(request))


@ROUTES.add(
    f"POST {_RUN}/episodes",
    WRITE,
    {201: EpisodeDocument},
    idempotent=True,
    audited=(APPEND_EPISODE,),
)
def append_episode(request: Request, caller: Principal, new: NewEpisode) -> Response:
    """Append an episode to a run.

    A run that has ended accepts episodes, too. With an Idempotency-Key, a retry returns the
    first episode.
    """
    token = request.optional_idempotency_token(caller)
    run_id = request.path_params["run_id"]
    episode = request.services.episodes.append(caller, run_id, new, token)
    return json_response(201, render_episode(episode))


@ROUTES.add(
    "GET /api/v1/episodes",
    READ,
    {200: EpisodePageDocument},
    query=(_AGENT_TYPE, _RUN_ID, _EPISODE_LIMIT, AFTER, _BEFORE, UNCOUNTED, VALUES_OF_ANSWER),
    error_statuses=(404,),
)
def recall_episodes(request: Request, caller: Principal) -> Response:
    """Recall the newest episodes of an agent type, or of a run.

    Lists the newest episodes first. The episodes of a run are complete. The episodes of an
    agent type span its runs, and a new one may be missing for a moment. The response has no total.
    """
    limit, before = _EPISODE_LIMIT.read(request), read_cursor(request, caller, AFTER, _BEFORE)
    UNCOUNTED.read(request)
    wanted = WantedPage(limit, after=before)
    agent_type, run_id = _AGENT_TYPE.read(request), _RUN_ID.read(request)
    if (agent_type is None) == (run_id is None):
        raise ValidationFailed("agent_type", "send either agent_type or run_id")
    if agent_type is not None:
        found = request.services.episodes.list_by_type(caller, agent_type, wanted)
    else:
        run, found = request.services.episodes.list_by_run(caller, str(run_id), wanted)
        agent_type = run.agent_type
    episodes, last_id = render_page(
        found, limit, lambda each: render_episode(each, agent_type), attrgetter("id")
    )
    page = EpisodePageDocument(episodes=episodes, limit=limit)
    if last_id is not None:
        page["next"] = sign_cursor(request, caller, last_id)
    return json_response(200, page)

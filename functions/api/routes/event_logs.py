"""Logs: what happened to memory (RFC-0015 §5, contract §5)."""

from functions.api.http import Request, Response, json_response
from functions.api.parameters import LIMIT, ChoiceParameter, TextParameter
from functions.api.responses.event_logs import EventPageDocument, render_event
from functions.api.routing import Route
from functions.event_log.model import Event, LogEventType, LogQuery
from functions.identity.model import READ, Principal

_TYPE: ChoiceParameter[LogEventType] = ChoiceParameter("type", "The events' type.", LogEventType)
_AFTER = TextParameter(
    "after",
    "The `next` of an earlier answer; the log's beginning unless given.",
    pattern="[0-9]{1,17}",
    expected="takes the `next` of an earlier answer",
)
_QUERY = (_TYPE, _AFTER, LIMIT)


def read_intent_log(request: Request, caller: Principal) -> Response:
    intent_id = request.path_params["intent_id"]
    return _page_response(
        *request.services.logs.read_intent_log(caller, intent_id, _log_query(request))
    )


def read_agent_log(request: Request, caller: Principal) -> Response:
    agent_id = request.path_params["agent_id"]
    return _page_response(
        *request.services.logs.read_agent_log(caller, agent_id, _log_query(request))
    )


def read_namespace_log(request: Request, caller: Principal) -> Response:
    namespace = request.path_params["namespace"]
    return _page_response(
        *request.services.logs.read_namespace_log(caller, namespace, _log_query(request))
    )


def _log_query(request: Request) -> LogQuery:
    after = _AFTER.read(request)
    return LogQuery(int(after or 0), LIMIT.read(request), _TYPE.read(request))


def _page_response(events: list[Event], position: int) -> Response:
    return json_response(
        200, EventPageDocument(events=list(map(render_event, events)), next=str(position))
    )


ROUTES = [
    Route(
        "GET",
        "/api/v1/intents/{intent_id+}/events",
        read_intent_log,
        READ,
        "Read an intent's log",
        {200: EventPageDocument},
        query=_QUERY,
        error_statuses=(404,),
        description="By the intent's owner, who takes or took part in it, who is on its access "
        "list, or with `memory.admin`. Oldest first.",
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/events",
        read_agent_log,
        READ,
        "Read what happened to an agent's memory outside of intents",
        {200: EventPageDocument},
        query=_QUERY,
        description="By the agent itself, or with `memory.admin`. Oldest first.",
    ),
    Route(
        "GET",
        "/api/v1/memory/namespaces/{namespace+}/events",
        read_namespace_log,
        READ,
        "Read what happened to a namespace's memory outside of intents",
        {200: EventPageDocument},
        query=_QUERY,
        description="By who may read the namespace, or with `memory.admin`. Oldest first.",
    ),
]

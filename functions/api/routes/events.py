"""Logs of events (RFC-0015 §5)."""

from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import JsonObject, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.parameters import (
    FROM,
    LIMIT,
    ORDER,
    TO,
    ChoiceParameter,
    TextParameter,
    read_period,
)
from functions.api.routing import RouteTable
from functions.events.model import Event, LogEventType, LogQuery
from functions.identity.model import READ, Actor, ActorKind, Principal
from functions.platform.json_text import dumps
from functions.platform.limits import MAX_ID_CHARACTERS


class ActorDocument(TypedDict):
    """The actor of an event: a principal, the operator, or the service itself."""

    id: str
    kind: ActorKind


class EventDocument(TypedDict):
    """An event of a log."""

    id: Annotated[str, Field(pattern="^evt_")]
    type: LogEventType
    agent_id: str
    """The owner of the memory."""
    actor: ActorDocument
    """The principal that made the change."""
    intent_id: str | None
    task_id: str | None
    data: JsonObject
    """The entry that was changed, without its value."""
    timestamp: Timestamp


class EventPageDocument(TypedDict):
    """A page of a log."""

    events: list[EventDocument]
    next: NotRequired[str]
    """The position to continue from, now or later; at the present end of the log, the `after` of
    the request. With `order=desc`, absent at the end."""


def render_actor(actor: Actor) -> ActorDocument:
    return to_document(actor, ActorDocument)


def render_event(event: Event) -> EventDocument:
    """Render an event of a log (RFC-0015 §5.2)."""
    data = orjson.Fragment(dumps(event.data))
    return to_document(event, EventDocument, actor=render_actor(event.actor), data=data)


ROUTES = RouteTable()

_TYPE: ChoiceParameter[LogEventType] = ChoiceParameter(
    "type", "Only events of this type.", LogEventType
)

_AFTER = TextParameter(
    "after",
    "The `next` of an earlier response; by default, the list starts at its beginning.",
    pattern="[0-9]{1,17}",
    expected="must be the `next` of an earlier response",
)

_ENTRY = TextParameter(
    "entry_id",
    "Only events about this entry, including archivals that contain it.",
    MAX_ID_CHARACTERS,
)

_ACTOR = TextParameter("actor", "Only events that this principal caused.", MAX_ID_CHARACTERS)

_QUERY = (_TYPE, _ENTRY, _ACTOR, FROM, TO, ORDER, _AFTER, LIMIT)

_PAGES = (
    "Oldest first, unless `order` is `desc`. A request examines a bounded number of events. With "
    "filters, a page may have fewer events than match, or none; `next` continues."
)


@ROUTES.add(
    "GET /api/v1/intents/{intent_id+}/events",
    READ,
    {200: EventPageDocument},
    query=_QUERY,
    remark="For the intent's owner, present and former participants, principals on its access "
    f"list, and with `memory.admin`. {_PAGES}",
)
def read_intent_log(request: Request, caller: Principal) -> Response:
    """Read an intent's log."""
    intent_id = request.path_params["intent_id"]
    return _page_response(
        *request.services.events.read_intent_log(caller, intent_id, _log_query(request))
    )


@ROUTES.add(
    "GET /api/v1/agents/{agent_id+}/events",
    READ,
    {200: EventPageDocument},
    query=_QUERY,
    remark=f"For the agent itself, and with `memory.admin`. {_PAGES}",
)
def read_agent_log(request: Request, caller: Principal) -> Response:
    """Read the log of an agent's memory that belongs to no intent."""
    agent_id = request.path_params["agent_id"]
    return _page_response(
        *request.services.events.read_agent_log(caller, agent_id, _log_query(request))
    )


@ROUTES.add(
    "GET /api/v1/memory/namespaces/{namespace+}/events",
    READ,
    {200: EventPageDocument},
    query=_QUERY,
    remark="For readers of the namespace, and with `memory.admin`. " + _PAGES,
    error_statuses=(),
)
def read_namespace_log(request: Request, caller: Principal) -> Response:
    """Read the log of a namespace's memory that belongs to no intent."""
    namespace = request.path_params["namespace"]
    return _page_response(
        *request.services.events.read_namespace_log(caller, namespace, _log_query(request))
    )


def _log_query(request: Request) -> LogQuery:
    after, (since, until) = _AFTER.read(request), read_period(request)
    return LogQuery(
        LIMIT.read(request),
        None if after is None else int(after),
        newest_first=ORDER.read(request) == "desc",
        type=_TYPE.read(request),
        actor=_ACTOR.read(request),
        entry_id=_ENTRY.read(request),
        since=since,
        until=until,
    )


def _page_response(events: list[Event], position: int | None) -> Response:
    page = EventPageDocument(events=list(map(render_event, events)))
    if position is not None:
        page["next"] = str(position)
    return json_response(200, page)

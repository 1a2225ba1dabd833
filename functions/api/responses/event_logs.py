"""Events, as the API shows them (RFC-0015 §5.2)."""

from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import JsonObject, Timestamp
from functions.event_log.model import Event, LogEventType
from functions.identity.model import Actor, ActorKind
from functions.platform.json_text import dumps


class ActorDocument(TypedDict):
    """The actor of an event: a principal, the operator, or the service itself."""

    id: str
    kind: ActorKind


class EventDocument(TypedDict):
    """An event of a log."""

    id: Annotated[str, Field(pattern="^evt_")]
    type: LogEventType
    agent_id: str
    """Whose memory it is."""
    actor: ActorDocument
    """The principal that did it."""
    intent_id: str | None
    task_id: str | None
    data: JsonObject
    """The entry that it is about, without its value."""
    timestamp: Timestamp


class EventPageDocument(TypedDict):
    """A page of a log."""

    events: list[EventDocument]
    next: NotRequired[str]
    """The position to continue from, now or later; at the log's present end it is the
    `after` of the request. With `order=desc` it is absent where nothing older is left."""


def render_actor(actor: Actor) -> ActorDocument:
    return to_document(actor, ActorDocument)


def render_event(event: Event) -> EventDocument:
    """Render an event of a log (RFC-0015 §5.2)."""
    data = orjson.Fragment(dumps(event.data))
    return to_document(event, EventDocument, actor=render_actor(event.actor), data=data)

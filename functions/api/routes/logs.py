"""Logs: what happened to memory (RFC-0015 §5, contract §5)."""

import re
from typing import cast, get_args

from functions.api.call import Answer, Call, json_answer
from functions.api.log_documents import event_document
from functions.api.paging import limits, single
from functions.api.route import Route
from functions.event_log.model import Event, EventType, Page
from functions.identity.model import READ, Principal
from functions.platform.errors import ValidationFailed

_POSITION = re.compile(r"\d{1,15}", re.ASCII)
_QUERY = ("type", "after", "limit")


def of_intent(call: Call, caller: Principal) -> Answer:
    return _answer(*call.services.logs.of_intent(caller, call.names["intent_id"], _page(call)))


def of_agent(call: Call, caller: Principal) -> Answer:
    return _answer(*call.services.logs.of_agent(caller, call.names["agent_id"], _page(call)))


def of_namespace(call: Call, caller: Principal) -> Answer:
    return _answer(*call.services.logs.of_namespace(caller, call.names["namespace"], _page(call)))


def _page(call: Call) -> Page:
    after, kind = single(call, "after"), single(call, "type")
    if after is not None and not _POSITION.fullmatch(after):
        raise ValidationFailed("after", "takes the `next` of an earlier answer")
    if kind is not None and kind not in get_args(EventType):
        raise ValidationFailed("type", f"is one of {', '.join(get_args(EventType))}")
    return Page(int(after or 0), limits(call)[0], cast("EventType | None", kind))


def _answer(events: list[Event], position: int) -> Answer:
    return json_answer(200, {"events": list(map(event_document, events)), "next": str(position)})


ROUTES = [
    Route(
        "GET",
        "/api/v1/intents/{intent_id+}/events",
        of_intent,
        READ,
        "Read an intent's log",
        {200: "EventPage"},
        query=_QUERY,
        also=(404,),
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/events",
        of_agent,
        READ,
        "Read what happened to an agent's memory outside of intents",
        {200: "EventPage"},
        query=_QUERY,
    ),
    Route(
        "GET",
        "/api/v1/memory/namespaces/{namespace+}/events",
        of_namespace,
        READ,
        "Read what happened to a namespace's memory outside of intents",
        {200: "EventPage"},
        query=_QUERY,
    ),
]

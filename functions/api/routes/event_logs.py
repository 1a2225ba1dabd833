"""Logs: what happened to memory (RFC-0015 §5, contract §5)."""

import re
from typing import cast, get_args

from functions.api.http import Request, Response, json_response
from functions.api.log_documents import event_document
from functions.api.paging import limits, single
from functions.api.routing import Route
from functions.event_log.model import Event, EventType, Page
from functions.identity.model import READ, Principal
from functions.platform.errors import ValidationFailed

_POSITION = re.compile(r"\d{1,15}", re.ASCII)
_QUERY = ("type", "after", "limit")


def read_intent_log(request: Request, caller: Principal) -> Response:
    return _response(
        *request.services.logs.of_intent(caller, request.path_params["intent_id"], _page(request))
    )


def read_agent_log(request: Request, caller: Principal) -> Response:
    return _response(
        *request.services.logs.of_agent(caller, request.path_params["agent_id"], _page(request))
    )


def read_namespace_log(request: Request, caller: Principal) -> Response:
    return _response(
        *request.services.logs.of_namespace(
            caller, request.path_params["namespace"], _page(request)
        )
    )


def _page(request: Request) -> Page:
    after, kind = single(request, "after"), single(request, "type")
    if after is not None and not _POSITION.fullmatch(after):
        raise ValidationFailed("after", "takes the `next` of an earlier answer")
    if kind is not None and kind not in get_args(EventType):
        raise ValidationFailed("type", f"is one of {', '.join(get_args(EventType))}")
    return Page(int(after or 0), limits(request)[0], cast("EventType | None", kind))


def _response(events: list[Event], position: int) -> Response:
    return json_response(200, {"events": list(map(event_document, events)), "next": str(position)})


ROUTES = [
    Route(
        "GET",
        "/api/v1/intents/{intent_id+}/events",
        read_intent_log,
        READ,
        "Read an intent's log",
        {200: "EventPage"},
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
        {200: "EventPage"},
        query=_QUERY,
        description="By the agent itself, or with `memory.admin`. Oldest first.",
    ),
    Route(
        "GET",
        "/api/v1/memory/namespaces/{namespace+}/events",
        read_namespace_log,
        READ,
        "Read what happened to a namespace's memory outside of intents",
        {200: "EventPage"},
        query=_QUERY,
        description="By who may read the namespace, or with `memory.admin`. Oldest first.",
    ),
]

"""Agents' states (Agent Memory Protocol §3, §4.2; contract §9)."""

from typing import Any

import orjson

from functions.api.conversation_documents import state_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import cut, number
from functions.api.routing import Route
from functions.conversations.model import State, StateAddress
from functions.conversations.requests import NewState
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_NAME_CHARACTERS, MAX_OFFSET

OF_OWNER = "/api/v1/agents/{agent_id+}/state/{owner_id}"
STATE = f"{OF_OWNER}/{{key+}}"


def get_state(request: Request, caller: Principal) -> Response:
    return _response(request.services.states.get(caller, _address(request)))


def delete_state(request: Request, caller: Principal) -> Response:
    request.services.states.delete(caller, _address(request), request.if_match)
    return Response(204)


def list_states(request: Request, caller: Principal) -> Response:
    agent, owner = (
        request.path_param("agent_id"),
        request.path_param("owner_id"),
    )
    offset = number(request, "offset", 0, 0, MAX_OFFSET)
    found = list(request.services.states.list_for_owner(caller, agent, owner))
    taken = len(cut(map(_pair, found[offset:])))
    shown: dict[str, Any] = {}
    for state in found[offset : offset + taken]:
        shown |= _pair(state)
    document = {"agent_id": agent, "owner_id": owner, "states": shown, "total": len(found)}
    more = {"next_offset": offset + taken} if offset + taken < len(found) else {}
    return json_response(200, document | more)


def _pair(state: State) -> dict[str, Any]:
    return {state.address.key: orjson.Fragment(state.value)}


def _address(request: Request) -> StateAddress:
    """Where the state of a request stands."""
    agent, owner = (
        request.path_param("agent_id"),
        request.path_param("owner_id"),
    )
    return StateAddress(agent, owner, request.path_param("key", MAX_NAME_CHARACTERS))


def _response(state: State) -> Response:
    """Render a response that shows a state."""
    return json_response(200, state_document(state), etag=f'"{state.version}"')


def put_state(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewState)
    return _response(request.services.states.put(caller, _address(request), new, request.if_match))


ROUTES = [
    Route("GET", STATE, get_state, READ, "Get a state", {200: "State"}, error_statuses=(404,)),
    Route(
        "DELETE",
        STATE,
        delete_state,
        WRITE,
        "Delete a state",
        {204: None},
        error_statuses=(404, 409),
        if_match="optional",
    ),
    Route(
        "GET",
        OF_OWNER,
        list_states,
        READ,
        "Get all of an agent's states for an owner",
        {200: "States"},
        query=("offset",),
    ),
    Route(
        "PUT",
        STATE,
        put_state,
        WRITE,
        "Store a state of an agent for an owner",
        {200: "State"},
        request_model=NewState,
        error_statuses=(404, 409, 413),
        if_match="optional",
    ),
]

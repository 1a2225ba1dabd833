"""Agents' states (Agent Memory Protocol §3, §4.2; contract §9)."""

import orjson

from functions.api.http import Request, Response, json_response
from functions.api.paging import truncate_to_limit
from functions.api.parameters import OFFSET
from functions.api.responses.conversations import StateDocument, StatesDocument, render_state
from functions.api.responses.types import JsonValue
from functions.api.routing import Route
from functions.conversations.model import State, StateAddress
from functions.conversations.requests import NewState
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_NAME_CHARACTERS

_OWNED = "/api/v1/agents/{agent_id+}/state/{owner_id}"
_STATE = f"{_OWNED}/{{key+}}"


def put_state(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewState)
    stored = request.services.states.put(caller, _address(request), new, request.if_match)
    return _state_response(stored)


def get_state(request: Request, caller: Principal) -> Response:
    return _state_response(request.services.states.get(caller, _address(request)))


def list_states(request: Request, caller: Principal) -> Response:
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    offset = OFFSET.read(request)
    found = list(request.services.states.list_for_owner(caller, agent, owner))
    taken = len(truncate_to_limit(map(_render_value, found[offset:])))
    states: dict[str, JsonValue] = {}
    for state in found[offset : offset + taken]:
        states |= _render_value(state)
    document = StatesDocument(agent_id=agent, owner_id=owner, states=states, total=len(found))
    if offset + taken < len(found):
        document["next_offset"] = offset + taken
    return json_response(200, document)


def delete_state(request: Request, caller: Principal) -> Response:
    request.services.states.delete(caller, _address(request), request.if_match)
    return Response(204)


def _address(request: Request) -> StateAddress:
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    return StateAddress(agent, owner, request.path_param("key", MAX_NAME_CHARACTERS))


def _render_value(state: State) -> dict[str, JsonValue]:
    return {state.address.key: orjson.Fragment(state.value)}


def _state_response(state: State) -> Response:
    return json_response(200, render_state(state), etag=f'"{state.version}"')


ROUTES = [
    Route(
        "GET",
        _STATE,
        get_state,
        READ,
        "Get a state",
        {200: StateDocument},
        response_headers=("ETag",),
        error_statuses=(404,),
    ),
    Route(
        "DELETE",
        _STATE,
        delete_state,
        WRITE,
        "Delete a state",
        {204: None},
        error_statuses=(404, 409),
        if_match="optional",
    ),
    Route(
        "GET",
        _OWNED,
        list_states,
        READ,
        "Get all of an agent's states for an owner",
        {200: StatesDocument},
        query=(OFFSET,),
    ),
    Route(
        "PUT",
        _STATE,
        put_state,
        WRITE,
        "Store a state of an agent for an owner",
        {200: StateDocument},
        response_headers=("ETag",),
        request_model=NewState,
        error_statuses=(404, 409, 413),
        if_match="optional",
    ),
]

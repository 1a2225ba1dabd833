"""Agents' states (Agent Memory Protocol §3, §4.2; contract §9)."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import orjson

from functions.api.http import Request, Response, json_response
from functions.api.paging import truncate_to_limit
from functions.api.parameters import OFFSET, VALUES
from functions.api.responses.conversations import (
    StateDocument,
    StateHeadDocument,
    StatesDocument,
    render_state,
    render_state_head,
)
from functions.api.responses.types import JsonValue
from functions.api.routing import WRITE_OR_ADMIN, Route
from functions.conversations.authority import DELETE_STATE
from functions.conversations.model import State, StateAddress
from functions.conversations.requests import NewState
from functions.conversations.states import ListedState
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_NAME_CHARACTERS

_OWNED = "/api/v1/agents/{agent_id+}/state/{owner_id}"
_STATE = f"{_OWNED}/{{key+}}"


def put_state(request: Request, caller: Principal) -> Response:
    new, token = request.parse_body(NewState), request.optional_idempotency_token(caller)
    stored = request.services.states.put(caller, _address(request), new, request.if_match, token)
    return _state_response(stored)


def get_state(request: Request, caller: Principal) -> Response:
    return _state_response(request.services.states.get(caller, _address(request)))


def list_states(request: Request, caller: Principal) -> Response:
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    offset, has_values = OFFSET.read(request), VALUES.read(request) is None
    found = _Counted(request.services.states.list_for_owner(caller, agent, owner))
    rest = islice(found, offset, None)
    shown: list[dict[str, JsonValue]] = []
    heads: list[StateHeadDocument] = []
    if has_values:
        taken = len(truncate_to_limit(_render_values(rest, shown)))
    else:
        heads = truncate_to_limit(render_state_head(head) for head, _ in rest)
        taken = len(heads)
    total = found.count_all()
    document: StatesDocument = {"agent_id": agent, "owner_id": owner, "total": total}
    if has_values:
        document["states"] = dict(chain.from_iterable(each.items() for each in shown[:taken]))
    else:
        document["heads"] = heads
    if offset + taken < total:
        document["next_offset"] = offset + taken
    return json_response(200, document)


def _render_values(
    found: Iterable[ListedState], shown: list[dict[str, JsonValue]]
) -> Iterator[dict[str, JsonValue]]:
    """Render states by their keys, and list them in `shown`; those deleted meanwhile are empty."""
    for _, load in found:
        state = load()
        shown.append({} if state is None else {state.address.key: orjson.Fragment(state.value)})
        yield shown[-1]


class _Counted(Iterator[ListedState]):
    """Counts what is taken of an iterator."""

    def __init__(self, found: Iterator[ListedState]) -> None:
        self._found = found
        self._count = 0

    def __next__(self) -> ListedState:
        each = next(self._found)
        self._count += 1
        return each

    def count_all(self) -> int:
        """Take the rest, and return how many there were in all."""
        for _ in self:
            pass
        return self._count


def delete_state(request: Request, caller: Principal) -> Response:
    request.services.states.delete(caller, _address(request), request.if_match)
    return Response(204)


def _address(request: Request) -> StateAddress:
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    return StateAddress(agent, owner, request.path_param("key", MAX_NAME_CHARACTERS))


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
        WRITE_OR_ADMIN,
        "Delete a state",
        {204: None},
        error_statuses=(404, 409),
        if_match="optional",
        audited=(DELETE_STATE,),
    ),
    Route(
        "GET",
        _OWNED,
        list_states,
        READ,
        "Get all of an agent's states for an owner",
        {200: StatesDocument},
        query=(OFFSET, VALUES),
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
        idempotent=True,
    ),
]

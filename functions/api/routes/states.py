"""Agents' states (Agent Memory Protocol §3, §4.2)."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import orjson

from functions.api.http import Request, Response, json_response
from functions.api.paging import mark_hidden, read_page_request, truncate_to_limit
from functions.api.parameters import (
    AFTER,
    OFFSET,
    ONLY_NEW,
    TOTAL,
    UNCOUNTED,
    UNCOUNTED_PAGE,
    VALUES,
    IntegerParameter,
)
from functions.api.responses.conversations import (
    AgentStatesDocument,
    StateDocument,
    StateHeadDocument,
    StatesDocument,
    render_state,
    render_state_head,
)
from functions.api.responses.types import JsonValue
from functions.api.routing import WRITE_OR_ADMIN, RouteTable
from functions.conversations.authority import CHANGE_STATE, DELETE_STATE
from functions.conversations.model import State, StateAddress
from functions.conversations.requests import NewState
from functions.identity.model import READ, WRITE, Principal
from functions.platform.bounded_pages import Listed
from functions.platform.limits import MAX_NAME_CHARACTERS, MAX_PAGE_ITEMS

ROUTES = RouteTable()
_OF_AGENT = "/api/v1/agents/{agent_id+}/state"
_OWNED = f"{_OF_AGENT}/{{owner_id}}"
_STATE = f"{_OWNED}/{{key+}}"
_LIMIT = IntegerParameter("limit", "How many to answer at most.", 1, MAX_PAGE_ITEMS, MAX_PAGE_ITEMS)


@ROUTES.add(
    f"GET {_STATE}", READ, {200: StateDocument}, response_headers=("ETag",), error_statuses=(404,)
)
def get_state(request: Request, caller: Principal) -> Response:
    """Get a state."""
    return _state_response(request.services.states.get(caller, _address(request)))


@ROUTES.add(
    f"DELETE {_STATE}",
    WRITE_OR_ADMIN,
    {204: None},
    error_statuses=(404, 409),
    if_match="optional",
    audited=(DELETE_STATE,),
)
def delete_state(request: Request, caller: Principal) -> Response:
    """Delete a state."""
    request.services.states.delete(caller, _address(request), request.if_match)
    return Response(204)


@ROUTES.add(
    f"GET {_OWNED}", READ, {200: StatesDocument}, query=(VALUES, _LIMIT, OFFSET, AFTER, TOTAL)
)
def list_states(request: Request, caller: Principal) -> Response:
    """Get all of an agent's states for an owner, the last updated first.

    Pages with a `total` are strongly consistent; others come from an index that may be a moment
    behind.
    """
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    asked = read_page_request(request, caller, _LIMIT)
    states = request.services.states
    found, total = states.list_page(caller, agent, owner, asked.wanted)
    render = _render_value if VALUES.read(request) is None else _render_head
    rendered, end = _take_page(found, asked.wanted.limit, render)
    position = mark_hidden(
        asked.describe(len(rendered), end, total),
        rendered,
        lambda: not states.can_read(caller, agent, owner),
    )
    shown: dict[str, Any] = {"heads": rendered}
    if render is _render_value:
        shown = {"states": dict(chain.from_iterable(map(dict.items, rendered)))}
    return json_response(200, {"agent_id": agent, "owner_id": owner, **shown, **position})


@ROUTES.add(f"GET {_OF_AGENT}", READ, {200: AgentStatesDocument}, query=(VALUES, *UNCOUNTED_PAGE))
def list_agent_states(request: Request, caller: Principal) -> Response:
    """List an agent's states for all owners, those of one owner together.

    The agent and the agents of its type get all, everybody else those that they own. Of one
    owner, the last updated come first. It comes from an index that may be a moment behind.
    """
    agent = request.path_param("agent_id")
    UNCOUNTED.read(request)
    asked = read_page_request(request, caller)
    wanted, states = asked.wanted, request.services.states
    found = states.list_of_agent(caller, agent, wanted.after, wanted.limit + 1)
    render = _render_whole if VALUES.read(request) is None else _render_without_value
    rendered, end = _take_page(found, wanted.limit, render)
    page = AgentStatesDocument(states=list(filter(None, rendered)), limit=wanted.limit)
    if end is not None:
        page["next"] = asked.sign(end)
    elif not rendered and wanted.after is None and not states.can_read(caller, agent, ""):
        page["hidden"] = True
    return json_response(200, page)


def _take_page(
    found: Iterator[Listed[State]], limit: int, render: Callable[[Listed[State]], Any]
) -> tuple[list[Any], str | None]:
    """Render as many states as a page holds; and get the position after which there are more."""
    listed: list[Listed[State]] = []
    rendered: list[Any] = []

    def take() -> Iterator[Any]:
        for each in islice(found, limit):
            listed.append(each)
            rendered.append(render(each))
            yield rendered[-1]

    taken = len(truncate_to_limit(take()))
    has_more = taken < len(listed) or next(found, None) is not None
    return rendered[:taken], listed[taken - 1].position if taken and has_more else None


def _render_value(listed: Listed[State]) -> dict[str, JsonValue]:
    """Render a state's value by its key; nothing if it has just been deleted."""
    state = listed.load()
    return {} if state is None else {state.address.key: orjson.Fragment(state.value)}


def _render_head(listed: Listed[State]) -> StateHeadDocument:
    return render_state_head(listed.head)


def _render_whole(listed: Listed[State]) -> StateDocument | None:
    """Render a state; None if it has just been deleted."""
    state = listed.load()
    return None if state is None else render_state(state)


def _render_without_value(listed: Listed[State]) -> StateDocument:
    state = render_state(listed.head)
    del state["value"]
    return state


@ROUTES.add(
    f"PUT {_STATE}",
    WRITE,
    {200: StateDocument},
    response_headers=("ETag",),
    request_model=NewState,
    request_headers=(ONLY_NEW,),
    error_statuses=(404, 409),
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_STATE,),
)
def put_state(request: Request, caller: Principal) -> Response:
    """Store a state of an agent for an owner."""
    new, token = request.parse_body(NewState), request.optional_idempotency_token(caller)
    version = request.replaceable_version
    stored = request.services.states.put(caller, _address(request), new, version, token)
    return _state_response(stored)


def _address(request: Request) -> StateAddress:
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    return StateAddress(agent, owner, request.path_param("key", MAX_NAME_CHARACTERS))


def _state_response(state: State) -> Response:
    return json_response(200, render_state(state), etag=f'"{state.version}"')

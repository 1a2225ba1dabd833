"""Agents' states (Agent Memory Protocol §3, §4.2)."""

from functools import partial
from operator import itemgetter
from typing import Annotated, Any, Literal, NotRequired

import orjson
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    JsonValue,
    PagePosition,
    Timestamp,
    UncountedPosition,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response
from functions.api.paging import mark_hidden, paginate_uncounted, read_page_request, render_page
from functions.api.parameters import (
    AFTER,
    OFFSET,
    ONLY_NEW,
    TOTAL,
    UNCOUNTED_PAGE,
    VALUES,
    IntegerParameter,
)
from functions.api.routing import WRITE_OR_ADMIN, RouteTable
from functions.conversations.authority import CHANGE_STATE, DELETE_STATE
from functions.conversations.model import State, StateAddress
from functions.conversations.requests import NewState
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_NAME_CHARACTERS, MAX_PAGE_ITEMS
from functions.platform.sensitivity import Sensitivity
from functions.platform.values import UNREADABLE


class StateDocument(TypedDict):
    """A state of an agent for an owner."""

    agent_id: str
    owner_id: str
    key: str
    value: NotRequired[Annotated[JsonValue, VALUE]]
    unreadable: NotRequired[bool]
    """True if the stored value was damaged or moved: replace it or delete the state."""
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp
    created_by: str


class StateHeadDocument(TypedDict):
    """A state without its value."""

    key: str
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp
    created_by: str


class StatesDocument(PagePosition):
    """A page of an agent's states for an owner, by their keys."""

    agent_id: str
    owner_id: str
    heads: NotRequired[list[StateHeadDocument]]
    """With `values=omit`, instead of `states`."""
    states: NotRequired[Annotated[dict[str, JsonValue], VALUE]]
    """Absent without `memory.read`, and with `values=omit`."""


class AgentStatesDocument(UncountedPosition):
    """A page of an agent's states for all owners."""

    states: list[StateDocument]
    """With `values=omit`, each without its value."""
    hidden: NotRequired[Literal[True]]
    """With an empty list: the caller may not read its elements."""


def render_state_head(state: State) -> StateHeadDocument:
    """Render a state without its value."""
    return to_document(state, StateHeadDocument, key=state.address.key)


def render_state(state: State, *, has_value: bool = True) -> StateDocument:
    """Render a state; the stored value is copied without parsing."""
    document = to_document(state, StateDocument, **state.address._asdict())
    if state.value is UNREADABLE:
        document["unreadable"] = True
    if not has_value:
        del document["value"]
    return document


ROUTES = RouteTable()

_OF_AGENT = "/api/v1/agents/{agent_id+}/state"

_OWNED = f"{_OF_AGENT}/{{owner_id}}"

_STATE = f"{_OWNED}/{{key+}}"

_LIMIT = IntegerParameter(
    "limit", "The maximum number of elements of the page.", 1, MAX_PAGE_ITEMS, MAX_PAGE_ITEMS
)


@ROUTES.add(f"GET {_STATE}", READ, {200: StateDocument})
def get_state(request: Request, caller: Principal) -> Response:
    """Get a state."""
    state = request.services.states.get(caller, _address(request))
    return json_response(200, render_state(state), state.version)


@ROUTES.add(
    f"DELETE {_STATE}", WRITE_OR_ADMIN, {204: None}, if_match="optional", audited=(DELETE_STATE,)
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

    Pages with a `total` are strongly consistent; other pages come from an eventually consistent
    index.
    """
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    asked = read_page_request(request, caller, _LIMIT)
    states = request.services.states
    has_values, members = VALUES.read(request) is None, list[bytes]()
    found, total = states.list_page(caller, agent, owner, asked.wanted, has_values=has_values)

    def render(listed: tuple[str, State]) -> Any:
        state = listed[1]
        if not has_values:
            return render_state_head(state)
        members.append(b"%b:%b" % (orjson.dumps(state.address.key), state.value))
        return orjson.Fragment(members[-1])

    page, end = render_page(found, asked.wanted.limit, render, itemgetter(0))
    position = mark_hidden(
        asked.describe(len(page), end, total),
        page,
        lambda: not states.can_read(caller, agent, owner),
    )
    values = orjson.Fragment(b"{%b}" % b",".join(members[: len(page)]))
    shown = {"states": values} if has_values else {"heads": page}
    return json_response(200, {"agent_id": agent, "owner_id": owner, **shown, **position})


@ROUTES.add(f"GET {_OF_AGENT}", READ, {200: AgentStatesDocument}, query=(VALUES, *UNCOUNTED_PAGE))
def list_agent_states(request: Request, caller: Principal) -> Response:
    """List an agent's states for all owners, grouped by owner.

    The agent and the agents of its type get all states; others get the states that they own. For
    each owner, the last updated come first. The index is eventually consistent.
    """
    agent = request.path_param("agent_id")
    states, has_values = request.services.states, VALUES.read(request) is None
    page, position = paginate_uncounted(
        request,
        caller,
        partial(states.list_of_agent, caller, agent, has_values=has_values),
        lambda each: render_state(each[1], has_value=has_values),
        itemgetter(0),
    )
    document: dict[str, Any] = {"states": page, **position}
    if not page and AFTER.text(request) is None and not states.can_read(caller, agent, ""):
        document["hidden"] = True
    return json_response(200, document)


@ROUTES.add(
    f"PUT {_STATE}",
    WRITE,
    {200: StateDocument},
    request_headers=(ONLY_NEW,),
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_STATE,),
)
def put_state(request: Request, caller: Principal, new: NewState) -> Response:
    """Store a state of an agent for an owner."""
    token = request.optional_idempotency_token(caller)
    version = request.replaceable_version
    stored = request.services.states.put(caller, _address(request), new, version, token)
    return json_response(200, render_state(stored), stored.version)


def _address(request: Request) -> StateAddress:
    agent, owner = request.path_param("agent_id"), request.path_param("owner_id")
    return StateAddress(agent, owner, request.path_param("key", MAX_NAME_CHARACTERS))

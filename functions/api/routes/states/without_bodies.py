"""Without a body: states read and deleted."""

from typing import Any

import orjson

from functions.api.call import Answer, Call, json_answer
from functions.api.conversation_documents import state_document
from functions.api.paging import cut, number
from functions.api.route import Route
from functions.conversations.states import Place, State
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS

OF_OWNER = "/api/v1/agents/{agent_id+}/state/{owner_id}"
STATE = f"{OF_OWNER}/{{key+}}"


def get(call: Call, caller: Principal) -> Answer:
    return answer(call.services.states.get(caller, place(call)))


def delete(call: Call, caller: Principal) -> Answer:
    call.services.states.delete(caller, place(call), call.if_match)
    return Answer(204)


def of_owner(call: Call, caller: Principal) -> Answer:
    agent, owner = (
        call.name("agent_id", MAX_ID_CHARACTERS),
        call.name("owner_id", MAX_ID_CHARACTERS),
    )
    offset = number(call, "offset", 0, 0, 10**9)
    found = list(call.services.states.of_owner(caller, agent, owner))
    taken = len(cut(map(_pair, found[offset:])))
    shown: dict[str, Any] = {}
    for state in found[offset : offset + taken]:
        shown |= _pair(state)
    document = {"agent_id": agent, "owner_id": owner, "states": shown, "total": len(found)}
    more = {"next_offset": offset + taken} if offset + taken < len(found) else {}
    return json_answer(200, document | more)


def _pair(state: State) -> dict[str, Any]:
    return {state.place.key: orjson.Fragment(state.value)}


def place(call: Call) -> Place:
    """Where the state of a request stands."""
    agent, owner = (
        call.name("agent_id", MAX_ID_CHARACTERS),
        call.name("owner_id", MAX_ID_CHARACTERS),
    )
    return Place(agent, owner, call.name("key", MAX_NAME_CHARACTERS))


def answer(state: State) -> Answer:
    """An answer that shows a state."""
    return json_answer(200, state_document(state), etag=f'"{state.version}"')


ROUTES = [
    Route("GET", STATE, get, READ, "Get a state", {200: "State"}, also=(404,)),
    Route(
        "DELETE",
        STATE,
        delete,
        WRITE,
        "Delete a state",
        {204: None},
        also=(404, 409),
        if_match="optional",
    ),
    Route(
        "GET",
        OF_OWNER,
        of_owner,
        READ,
        "Get all of an agent's states for an owner",
        {200: "States"},
        query=("offset",),
    ),
]

"""With a body: a state stored."""

from functions.api.call import Answer, Call
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.api.routes.states.without_bodies import STATE, answer, place
from functions.conversations.requests import NewState
from functions.identity.model import WRITE, Principal


def put(call: Call, caller: Principal) -> Answer:
    new = parsed(call, NewState)
    return answer(call.services.states.put(caller, place(call), new, call.if_match))


ROUTES = [
    Route(
        "PUT",
        STATE,
        put,
        WRITE,
        "Store a state of an agent for an owner",
        {200: "State"},
        body=NewState,
        also=(404, 409, 413),
        if_match="optional",
    ),
]

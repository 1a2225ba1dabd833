"""What the service says of itself to each protocol, and that it is there."""

from functions.api.call import Answer, Call, json_answer
from functions.api.capabilities import CAPABILITIES, OPENINTENT, OPENWOP
from functions.api.route import PUBLIC, Route
from functions.identity.model import Principal


def health(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, {"status": "ok"})


def openintent(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, OPENINTENT)


def openwop(call: Call, _caller: Principal) -> Answer:
    return json_answer(200, OPENWOP[call.services.settings.openwop])


def capabilities(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, CAPABILITIES)


ROUTES = [
    Route("GET", "/health", health, PUBLIC, "Whether the service answers", {200: "Health"}),
    Route(
        "GET",
        "/.well-known/openintent.json",
        openintent,
        PUBLIC,
        "What of the OpenIntent protocol is spoken here",
        {200: "OpenIntent"},
    ),
    Route(
        "GET",
        "/.well-known/openwop",
        openwop,
        PUBLIC,
        "What of the OpenWOP protocol is spoken here",
        {200: "OpenWop"},
    ),
    Route(
        "GET",
        "/api/v1/capabilities",
        capabilities,
        PUBLIC,
        "Tiers, limits, capacities and extensions",
        {200: "Capabilities"},
    ),
]

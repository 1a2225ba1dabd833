"""What needs no key: discovery, the OpenAPI document, health (contract §6)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.route import PUBLIC, Route
from functions.identity.model import Principal


def health(_call: Call, _caller: Principal) -> Answer:
    return json_answer(200, {"status": "ok"})


def with_discovery(routes: list[Route]) -> list[Route]:
    """The routes, and those that describe them."""
    return [
        *routes,
        Route("GET", "/health", health, PUBLIC, "Whether the service answers", {200: "Health"}),
    ]

"""The API function's entry point."""

from collections.abc import Callable
from functools import cache
from typing import Any

from functions.api.app import App
from functions.api.route import route_table
from functions.api.routes import (
    agents,
    context,
    conversations,
    facts,
    guardrails,
    identity,
    instances,
    logs,
    memory,
    namespaces,
    openwop,
    procedures,
    runs,
    search,
    states,
    tasks,
    workflows,
)
from functions.api.routes.discovery import with_discovery
from functions.api.services import build_services
from functions.api.tokens import claims_of
from functions.platform.clock import Clock, now_ms
from functions.platform.settings import ApiSettings

Handler = Callable[[dict[str, Any], object], dict[str, Any]]

ROUTES = with_discovery(
    [
        *logs.ROUTES,
        *namespaces.ROUTES,
        *agents.ROUTES,
        *guardrails.ROUTES,
        *memory.ROUTES,
        *search.ROUTES,
        *context.ROUTES,
        *tasks.ROUTES,
        *conversations.ROUTES,
        *states.ROUTES,
        *facts.ROUTES,
        *instances.ROUTES,
        *procedures.ROUTES,
        *openwop.ROUTES,
        *runs.ROUTES,
        *workflows.ROUTES,
        *identity.ROUTES,
    ]
)  # where patterns overlap, the first wins


def build(settings: ApiSettings, clock: Clock = now_ms) -> Handler:
    """The API on the tables and keys that the settings name."""
    return App(build_services(settings, clock), route_table(ROUTES), claims_of(settings))


@cache
def _app() -> Handler:
    return build(ApiSettings.from_env())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answers one API Gateway event (HTTP API, payload 2.0)."""
    return _app()(event, context)

"""The API function's entry point."""

from collections.abc import Callable
from functools import cache
from typing import Any

from functions.platform.start import starting

with starting():
    from functions.api.app import App
    from functions.api.services import Services
    from functions.api.tokens import claims_of
    from functions.platform.clock import Clock, now_ms
    from functions.platform.settings import ApiSettings

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


def build(settings: ApiSettings, clock: Clock = now_ms) -> Handler:
    """The API on the tables and keys that the settings name."""
    return App(Services(settings, clock), claims_of(settings))


@cache
def _app() -> Handler:
    with starting():
        return build(ApiSettings.from_env())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answers one API Gateway event (HTTP API, payload 2.0)."""
    return _app()(event, context)

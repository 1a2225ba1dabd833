"""Holds answers against the OpenAPI document: their statuses, for every answer of a test."""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from functions.api.route_index import list_routes
from functions.api.routing import Route, Router
from functions.platform.errors import MethodNotAllowed, NotFound

Json = dict[str, Any]
_PATH = Path(__file__).parents[2] / "functions/api/openapi.json"


def operations(document: Json) -> dict[str, Json]:
    """Each operation under its method and path."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


@cache
def read_document() -> Json:
    document: Json = json.loads(_PATH.read_text(encoding="utf-8"))
    return document


@cache
def list_responses() -> dict[str, Json]:
    """The responses of each operation."""
    return {name: operation["responses"] for name, operation in operations(read_document()).items()}


@cache
def _router() -> Router:
    return Router(list_routes())


def find_route(answer: httpx.Response) -> Route | None:
    """Find the documented route of an answer's request."""
    with suppress(MethodNotAllowed, NotFound):
        route, _ = _router().find(answer.request.method, answer.request.url.path)
        return route if route.is_documented else None
    return None


def check_status(answer: httpx.Response) -> None:
    """Check that a route's answer has a status that the document lists."""
    route = find_route(answer)
    if route is not None:
        documented = list_responses()[f"{route.method} {route.openapi_path}"]
        assert str(answer.status_code) in documented, f"{route.operation}: {answer.text}"

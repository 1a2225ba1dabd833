"""The OpenAPI 3.1 document, made from the routes and the models of their bodies (contract §6)."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from inspect import getdoc
from sys import modules

from functions.api import parameters
from functions.api.body_schemas import bodies, body_ref, noted
from functions.api.documents import Document
from functions.api.error_responses import openwop_names_of
from functions.api.routes import OPENWOP_PREFIX
from functions.api.routing import ANY, PUBLIC, ROOT, Route
from functions.api.schemas import answers
from functions.platform.errors import ERROR_CODES
from functions.tasks.requests import KEPT

VERSION = "0.1.0"
_ROUTES = "functions.api.routes."
_MEDIA = {"Html": "text/html"}
_HEADERS: dict[str | None, tuple[str, ...]] = {
    "Entry": ("ETag",),
    "Task": ("ETag",),
    "Namespace": ("ETag",),
    "CoordinatorGuardrails": ("ETag",),
    "ConversationHead": ("ETag",),
    "Conversation": ("ETag",),
    "Appended": ("ETag",),
    "Popped": ("ETag",),
    "State": ("ETag",),
    "Fact": ("ETag",),
    "Workflow": ("ETag",),
    "SelectedWorkflow": ("ETag",),
    "Run": ("ETag",),
    "Entries": ("X-Total-Count", "X-Next-Offset"),
    "Tasks": ("X-Total-Count", "X-Next-Offset"),
}
_STATUSES = sorted({kind.status for kind in ERROR_CODES.values()} - {500})
_PROBLEM_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}
_HEADER_NOTES = {
    "ETag": "The version, in quotes.",
    "Location": "Where it stands.",
    "Retry-After": "Seconds to wait before the same request is sent again.",
    "WWW-Authenticate": "How to send a key.",
    "X-Next-Offset": "Where to go on; absent on the last page.",
    "X-Request-Id": "Names this request in the service's logs.",
    "X-Total-Count": "How many match, on all pages.",
}
_DESCRIPTION = """\
Memory for AI agents, by OpenIntent RFC-0015: working, episodic and semantic entries with \
versions, tags, lifetimes and access rules.

Every request but those of the section Discovery carries a key, which stands for one principal of \
one tenant; nothing of another tenant is ever in reach. Times are RFC 3339 in UTC. Errors are \
problem documents (RFC 9457) whose `code` says what happened; `/docs` explains each code; those \
of the section OpenWOP are its own. A W3C \
`traceparent` header is honoured. HEAD is answered wherever GET is.\
"""


def describe(routes: list[Route]) -> Document:
    """The OpenAPI document of these routes."""
    paths: dict[str, Document] = {}
    for route in routes:
        operations = paths.setdefault(route.openapi_path, {})
        operations[route.method.lower()] = _operation(route, routes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent memory service",
            "version": VERSION,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"ApiKey": []}, {"Bearer": []}],
        "tags": list(_tags(routes)),
        "paths": paths,
        "components": _components(routes),
    }


def _tags(routes: list[Route]) -> Iterator[Document]:
    """The docstring of a section's module or package says what it is about."""
    for section in sorted({_section(route) for route in routes}):
        about, _, _ = (getdoc(modules[f"{_ROUTES}{section}"]) or "").partition(" (")
        yield {"name": section, "description": f"{about}."}


def _operation(route: Route, routes: list[Route]) -> Document:
    section = _section(route)
    name = route.handler.__name__
    operation: Document = {
        "operationId": name,
        "tags": [section],
        "summary": route.summary,
        "description": " ".join(filter(None, (_who_may(route), route.description))),
        "parameters": list(_parameters(route)),
        "responses": dict(_responses(route, routes)),
    }
    if route.required_permission == PUBLIC:
        operation["security"] = []
    if route.request_model is not None:
        schema = {"$ref": body_ref(route.request_model.__name__)}
        operation["requestBody"] = {
            "required": not route.request_model_optional,
            "content": {media: {"schema": schema} for media in route.media_types},
        }
    return operation


def _section(route: Route) -> str:
    """The module of its handler."""
    return route.handler.__module__.removeprefix(_ROUTES)


def _who_may(route: Route) -> str:
    if route.required_permission == PUBLIC:
        return "Needs no key."
    if route.required_permission == ROOT:
        return "Needs the operator's root key."
    if route.required_permission == ANY:
        return "Needs a principal's key."
    return f"Needs the permission `{route.required_permission}`."


def _parameters(route: Route) -> Iterator[Document]:
    for name, many in route.path_params:
        yield parameters.in_path(name, many=many)
    for name in route.query:
        yield parameters.in_query(name, _section(route))
    if route.required_permission not in (PUBLIC, ROOT):
        yield parameters.AGENT_ID
    if route.if_match is not None:
        yield parameters.IF_MATCH | {"required": route.if_match == "required"}
    if 304 in route.responses:
        yield parameters.IF_NONE_MATCH
    if route.idempotent:
        yield parameters.IDEMPOTENCY_KEY


def _responses(route: Route, routes: list[Route]) -> Iterator[tuple[str, Document]]:
    for status, name in route.responses.items():
        yield str(status), _success(route, status, name)
    for status in sorted(_problem_statuses(route, routes)):
        yield str(status), _refusal(route, status)


def _refusal(route: Route, status: int) -> Document:
    if not route.path.startswith(OPENWOP_PREFIX):
        return {"$ref": f"#/components/responses/Problem{status}"}
    return {
        "description": "; ".join(f"`{name}`" for name in openwop_names_of(status)),
        "headers": _headers(_PROBLEM_HEADERS.get(status, ())),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OpenWopError"}}},
    }


def _success(route: Route, status: int, name: str | None) -> Document:
    named = route.responses.get(200) if status == 304 else name
    headers = _HEADERS.get(named, ())
    if status == 201 and "ETag" in headers:
        headers += ("Location",)
    response: Document = {
        "description": HTTPStatus(status).phrase,
        "headers": _headers(headers),
    }
    if name is not None:
        schema = {"$ref": f"#/components/schemas/{name}"}
        response["content"] = {_MEDIA.get(name, "application/json"): {"schema": schema}}
    return response


def _problem_statuses(route: Route, routes: list[Route]) -> set[int]:
    statuses = {400, *route.error_statuses}
    if route.required_permission != PUBLIC:
        statuses |= {401, 403, 429, 503}
    if any(_hides(route, other) for other in routes):
        statuses.add(405)
    return statuses


def _hides(route: Route, other: Route) -> bool:
    """Whether the route's path, with some name filled in, is the path of another one."""
    return route.path != other.path and route.pattern.fullmatch(other.path) is not None


def _headers(names: Iterable[str]) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}


def _components(routes: list[Route]) -> Document:
    of_bodies = bodies(routes)
    kept = of_bodies.get("NewTaskBody", {}).get("properties", {})
    answered = answers({name: kept[name] for name in kept.keys() & KEPT})
    schemas = answered | of_bodies
    return {
        "schemas": {name: noted(name, schema) for name, schema in sorted(schemas.items())},
        "responses": {f"Problem{status}": _problem(status) for status in _STATUSES},
        "headers": {name: _header(name) for name in _HEADER_NOTES},
        "securitySchemes": {
            "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "Bearer": {"type": "http", "scheme": "bearer"},
        },
    }


def _problem(status: int) -> Document:
    codes = {code: kind.title for code, kind in ERROR_CODES.items() if kind.status == status}
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": "; ".join(f"{title} (`{code}`)" for code, title in codes.items()),
        "headers": _headers(_PROBLEM_HEADERS.get(status, ())),
        "content": {"application/problem+json": {"schema": schema}},
    }


def _header(name: str) -> Document:
    number = name in ("Retry-After", "X-Total-Count", "X-Next-Offset")
    schema: Document = {"type": "integer", "minimum": 0} if number else {"type": "string"}
    return {"description": _HEADER_NOTES[name], "schema": schema}

"""The OpenAPI 3.1 document of the API."""

import json
import sys
import tomllib
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from inspect import getdoc
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ValidationError
from typing_extensions import is_typeddict

from functions.api.error_responses import ProblemDocument, openwop_names_of
from functions.api.responses.openwop import OpenWopErrorDocument
from functions.api.route_index import list_routes
from functions.api.routes import OPENWOP_PREFIX
from functions.api.routing import ANY, PUBLIC, ROOT, Example, Route
from functions.platform.errors import ERROR_CODES
from tools.docs.limits import fill_limits
from tools.openapi import parameters
from tools.openapi.schemas import Schemas, derive_schema

_ROOT = Path(__file__).parents[2]
PATH = _ROOT / "functions/api/openapi.json"

Json = dict[str, Any]
_STATUSES = sorted({error.status for error in ERROR_CODES.values()} - {500})
_ERROR_HEADERS = {
    401: ("WWW-Authenticate",),
    416: ("Content-Range",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_HEADERS = {
    "Content-Range": ("string", "The range of bytes that is sent, and the size of the object."),
    "ETag": ("string", "The version, in quotes."),
    "Location": ("string", "The address of the new resource."),
    "Retry-After": ("integer", "Seconds to wait before the same request is sent again."),
    "WWW-Authenticate": ("string", "The accepted authentication schemes."),
    "X-Hidden": (
        "string",
        "`true` with an empty list: the caller may not read all requested memory.",
    ),
    "X-Next-Offset": ("integer", "The offset of the next page; absent on the last page."),
    "X-Next": ("string", "The value of `after` for the next page; absent on the last page."),
    "X-Object-Expires-At": ("string", "The time when the object expires; absent if it does not."),
    "X-Object-Metadata": ("string", "The object's metadata, a JSON object in ASCII."),
    "X-Object-Sensitivity": ("string", "The object's sensitivity; absent without one."),
    "X-Object-Size": ("integer", "The size of the object in bytes."),
    "X-Request-Id": ("string", "Names this request in the service's logs."),
    "X-Total-Count": ("integer", "The number of matches on all pages."),
}
_VERSIONS = {"version", "revision"}  # fields of documents that change
_LABELS = {
    "agent_id",
    "agent_type",
    "coordinator_id",
    "instance_id",
    "owner_id",
    "predicate",
    "space",
    "task_type",
    "user_id",
}
"""Parameters of paths that name things that need not exist."""
_DESCRIPTION = """\
Memory for AI agents, by OpenIntent RFC-0015: working, episodic and semantic entries with \
versions, tags, lifetimes and access rules.

Every request needs a key, except those of the section `discovery`. A key belongs to one \
principal of one tenant, and reaches no other tenant's data. Times are RFC 3339 in UTC. Errors \
are problem documents (RFC 9457) with a `code` (see the table below); the section `openwop` has \
its own format. A W3C `traceparent` header is supported. HEAD is accepted wherever GET is.

## Quick start

```
export SERVER=http://127.0.0.1:8080 KEY=am_...

# create an entry; the id in the response is what the next calls need
curl "$SERVER/api/v1/memory" -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\
  -d '{"namespace": "invoices", "key": "progress", "memory_type": "working",
       "value": {"completed": 23}, "tags": ["batch"]}'
export ID=mem_...

# read it, and change it from the version that was read
curl "$SERVER/api/v1/memory/$ID" -H "X-API-Key: $KEY"
curl -X PATCH "$SERVER/api/v1/memory/$ID" -H "X-API-Key: $KEY" -H 'If-Match: 1' \\
  -H 'Content-Type: application/json' -d '{"value": {"completed": 24}}'

# find it by its tag, and delete it
curl "$SERVER/api/v1/memory?tags=batch" -H "X-API-Key: $KEY"
curl -X DELETE "$SERVER/api/v1/memory/$ID" -H "X-API-Key: $KEY"
```

## Errors

| Code | Status | Meaning | Remedy |
|---|---|---|---|
"""


def render_document() -> str:
    """Render the document as it is checked in."""
    return fill_limits(json.dumps(describe_api(), indent=1, ensure_ascii=False)) + "\n"


def describe_api() -> Json:
    """Describe all documented routes."""
    routes = [route for route in list_routes() if route.is_documented]
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    schemas = Schemas(
        [route.request_model for route in routes if route.request_model is not None],
        [*_response_types(routes), ProblemDocument, OpenWopErrorDocument],
    )
    paths: dict[str, Json] = {}
    for route in routes:
        operations = paths.setdefault(route.openapi_path, {})
        operations[route.method.lower()] = _describe_operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent memory service",
            "version": project["version"],
            "description": _DESCRIPTION + _error_table(),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"ApiKey": []}, {"Bearer": []}],
        "tags": list(_tags(routes)),
        "paths": paths,
        "components": _components(routes, schemas),
    }


def _error_table() -> str:
    return "".join(
        f"| `{code}` | {error.status} | {error.description} | {error.remedy} |\n"
        for code, error in ERROR_CODES.items()
    )


def _response_types(routes: list[Route]) -> Iterator[Any]:
    for route in routes:
        for type_ in route.responses.values():
            if type_ is not None and not isinstance(type_, Example):
                yield type_


def _tags(routes: list[Route]) -> Iterator[Json]:
    """Describe each module of routes by its docstring."""
    for module in dict.fromkeys(sorted(route.handler.__module__ for route in routes)):
        about, _, _ = (getdoc(sys.modules[module]) or "").removesuffix(".").partition(" (")
        yield {"name": _tag(module), "description": f"{about}."}


def _tag(module: str) -> str:
    return module.rpartition(".")[2].replace("_", "-")


def _describe_operation(route: Route, schemas: Schemas) -> Json:
    description = f"{_describe_permission(route)} {route.description}".strip()
    operation: Json = {
        "operationId": route.handler.__name__,
        "tags": [_tag(route.handler.__module__)],
        "summary": route.summary,
        "description": description,
        "parameters": list(_describe_parameters(route)),
        "responses": dict(_describe_responses(route, schemas)),
    }
    if route.required_permission == PUBLIC:
        operation["security"] = []
    if route.request_model is not None:
        schema = schemas.schema_of(route.request_model)
        operation["requestBody"] = {
            "required": not _may_omit_body(route),
            "content": {media: {"schema": schema} for media in route.media_types},
        }
    return operation


def _may_omit_body(route: Route) -> bool:
    if route.method != "POST" or route.request_model is bytes:
        return False
    try:
        route.request_model.model_validate({})
    except ValidationError:
        return False
    return True


def _describe_permission(route: Route) -> str:
    if route.further_permission is not None:
        names = f"`{route.required_permission}` and `{route.further_permission}`"
        return f"Needs the permissions {names}."
    return {
        PUBLIC: "Needs no key.",
        ROOT: "Needs the operator's root key.",
        ANY: "Needs a principal's key.",
    }.get(route.required_permission, _describe_alternatives(route.required_permission))


def _describe_alternatives(permission: str) -> str:
    names = " or ".join(f"`{each}`" for each in permission.split(" or "))
    return f"Needs the permission {names}."


def _describe_parameters(route: Route) -> Iterator[Json]:
    for name, may_hold_slashes in route.path_params:
        yield parameters.describe_path_parameter(name, may_hold_slashes=may_hold_slashes)
    for parameter in route.query:
        yield parameters.describe_query_parameter(parameter)
    for header in route.request_headers:
        yield parameters.describe_header(header.name, None, header.description)
    if route.required_permission not in (PUBLIC, ROOT):
        yield parameters.AGENT_ID
    if route.if_match is not None:
        yield parameters.IF_MATCH | {"required": route.if_match == "required"}
    if 304 in route.responses:
        yield parameters.IF_NONE_MATCH
    if route.idempotent:
        yield parameters.IDEMPOTENCY_KEY


def _describe_responses(route: Route, schemas: Schemas) -> Iterator[tuple[str, Json]]:
    for status, type_ in route.responses.items():
        yield str(status), _describe_success(route, status, type_, schemas)
    for status in sorted(_error_statuses(route)):
        yield str(status), _describe_error(route, status)


def _describe_success(route: Route, status: int, type_: Any, schemas: Schemas) -> Json:
    headers = [name for name in _response_headers(route) if name != "Location" or status == 201]
    response: Json = {
        "description": HTTPStatus(status).phrase,
        "headers": _refer_to_headers(headers),
    }
    if type_ is not None:
        media = _MEDIA_TYPES.get(type_, "application/json")
        response["content"] = {media: {"schema": _schema_of(type_, schemas)}}
    return response


def _response_headers(route: Route) -> tuple[str, ...]:
    """List the headers of a route; versioned documents have an ETag, and an address."""
    if route.response_headers is not None:
        return route.response_headers
    documents = filter(is_typeddict, route.responses.values())
    has_version = any(_VERSIONS & get_type_hints(each).keys() for each in documents)
    return ("ETag", "Location") if has_version else ()


_MEDIA_TYPES = {str: "text/html", bytes: "*/*"}


def _schema_of(type_: Any, schemas: Schemas) -> Json:
    if isinstance(type_, Example):
        return {"$ref": f"#/components/schemas/{type_.name}"}
    return schemas.schema_of(type_)


def _error_statuses(route: Route) -> set[int]:
    statuses = {400, *_declared_errors(route)}
    if route.request_model is not None:
        statuses.add(413)
    if route.if_match == "required":
        statuses.add(428)
    if route.required_permission != PUBLIC:
        statuses |= {401, 403, 429, 503}
    return statuses


def _declared_errors(route: Route) -> set[int]:
    """List the errors of a route; a resource in the path may be missing, or change."""
    if route.error_statuses is not None:
        return set(route.error_statuses)
    statuses = {404} if route.path_params and route.path_params[-1][0] not in _LABELS else set()
    return statuses | ({409} if route.idempotent or route.if_match else set())


def _describe_error(route: Route, status: int) -> Json:
    if not route.path.startswith(OPENWOP_PREFIX):
        return {"$ref": f"#/components/responses/Problem{status}"}
    return {
        "description": "; ".join(f"`{name}`" for name in openwop_names_of(status)),
        "headers": _refer_to_headers(_ERROR_HEADERS.get(status, ())),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OpenWopError"}}},
    }


def _components(routes: list[Route], schemas: Schemas) -> Json:
    examples = {
        type_.name: derive_schema(type_.documents)
        for route in routes
        for type_ in route.responses.values()
        if isinstance(type_, Example)
    }
    return {
        "schemas": dict(sorted((schemas.components | examples).items())),
        "responses": {f"Problem{status}": _describe_problem(status) for status in _STATUSES},
        "headers": {name: _describe_header(*about) for name, about in _HEADERS.items()},
        "securitySchemes": {
            "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "Bearer": {"type": "http", "scheme": "bearer"},
        },
    }


def _describe_problem(status: int) -> Json:
    titles = (
        f"{error.title} (`{code}`)" for code, error in ERROR_CODES.items() if error.status == status
    )
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": "; ".join(titles),
        "headers": _refer_to_headers(_ERROR_HEADERS.get(status, ())),
        "content": {"application/problem+json": {"schema": schema}},
    }


def _refer_to_headers(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}


def _describe_header(type_: str, description: str) -> Json:
    schema: Json = {"type": "integer", "minimum": 0} if type_ == "integer" else {"type": type_}
    return {"description": description, "schema": schema}

"""Errors as HTTP responses: problem documents (RFC 9457) and OpenWOP's errors.

OpenWOP's errors have the members `error`, `message` and `details` (OpenWOP RFC 0004).
"""

from typing import Annotated, Any, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import Count
from functions.api.http import Response, json_response
from functions.api.responses.entries import EntryDocument, render_entry
from functions.api.responses.tasks import TaskDocument, render_task
from functions.api.routes.namespaces import NamespaceDocument, render_namespace
from functions.entries.model import Entry
from functions.namespaces.model import Namespace
from functions.platform.errors import (
    ERROR_CODES,
    OPENWOP_ERROR_CODES,
    Conflict,
    MethodNotAllowed,
    RangeNotSatisfiable,
    ServiceError,
    Throttled,
    Unauthenticated,
    Unavailable,
)
from functions.tasks.model import Task


class FieldErrorDocument(TypedDict):
    """A problem of a field or parameter of the request."""

    field: str
    message: str


class ProblemDocument(TypedDict):
    """An error (RFC 9457); its optional members depend on the code."""

    type: Annotated[str, Field(json_schema_extra={"format": "uri-reference"})]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    code: Annotated[str, Field(json_schema_extra={"enum": list(ERROR_CODES)})]
    message: str
    errors: NotRequired[list[FieldErrorDocument]]
    index: NotRequired[Count]
    """The index of the item of the batch that failed, counted from 0."""
    current_version: NotRequired[Count]
    current: NotRequired[EntryDocument | TaskDocument | NamespaceDocument]
    """The present state, if you may read it."""
    max: NotRequired[Count]
    actual: NotRequired[Count]
    size: NotRequired[Count]
    """The size of an object in bytes."""
    limit: NotRequired[str | Count]
    """The name of the limit that is reached; with `PAGE_TOO_LARGE`, the `limit` to ask for."""
    current_count: NotRequired[Count]
    max_capacity: NotRequired[Count]


def render_current(
    current: Entry | Task | Namespace,
) -> EntryDocument | TaskDocument | NamespaceDocument:
    """Render the present state that a write conflicts with."""
    match current:
        case Entry():
            return render_entry(current)
        case Task():
            return render_task(current)
        case Namespace():
            return render_namespace(current)


_OPENWOP_NAMES = {
    "ACCESS_DENIED": "forbidden",
    "BODY_TOO_LARGE": "payload_too_large",
    "IDEMPOTENCY_CONFLICT": "idempotency_key_mismatch",
    "RUN_ENDED": "run_terminal",
    "THROTTLED": "rate_limited",
    "VALUE_TOO_LARGE": "payload_too_large",
}

_OPENWOP_CODES = _OPENWOP_NAMES.keys() | {
    "CAPACITY_EXCEEDED",
    "METHOD_NOT_ALLOWED",
    "NOT_FOUND",
    "QUOTA_EXCEEDED",
    "SECRET_LEAKAGE",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNREADABLE",
    "VALIDATION_ERROR",
}


def problem_response(error: ServiceError) -> Response:
    document: dict[str, Any] = {
        "type": f"/docs#{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "message": error.message,
        **error.members,
    }
    if error.index is not None:
        document["index"] = error.index
    if isinstance(error, Conflict) and error.version is not None:
        document["current_version"] = error.version
    if isinstance(error, Conflict) and error.current is not None:
        document["current"] = render_current(error.current)
    headers = {name.replace("_", "-"): value for name, value in _error_headers(error).items()}
    typed = {"content-type": "application/problem+json"} | headers
    return Response(error.status, orjson.dumps(document), typed)


def openwop_error_response(error: ServiceError) -> Response:
    """Render an error in OpenWOP's format; `details` has the members of a problem."""
    document: dict[str, Any] = {"error": _openwop_name(error.code), "message": error.message}
    if error.members:
        document["details"] = error.members
    return json_response(error.status, document, **_error_headers(error))


def openwop_names_of(status: int) -> list[str]:
    """Return OpenWOP's names of the errors that have a status."""
    errors = ERROR_CODES | OPENWOP_ERROR_CODES
    return sorted({_openwop_name(code) for code in _OPENWOP_CODES if errors[code].status == status})


def _openwop_name(code: str) -> str:
    return _OPENWOP_NAMES.get(code, code.lower())


def _error_headers(error: ServiceError) -> dict[str, str]:
    """Return the headers of an error's response; names with underscores."""
    if isinstance(error, Throttled | Unavailable):
        return {"retry_after": str(error.retry_after)}
    if isinstance(error, MethodNotAllowed):
        return {"allow": ", ".join(error.allowed)}
    if isinstance(error, RangeNotSatisfiable):
        return {"content_range": f"bytes */{error.size}"}
    return {"www_authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}

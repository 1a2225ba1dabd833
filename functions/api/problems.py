"""The one table from errors to HTTP (contract §3, RFC 9457)."""

from typing import Any

import orjson

from functions.api.call import Answer
from functions.api.documents import conflict_document
from functions.platform.errors import (
    Conflict,
    MethodNotAllowed,
    ServiceError,
    Throttled,
    Unauthenticated,
    Unavailable,
)

PROBLEMS = {
    "VALIDATION_ERROR": (400, "The request is malformed"),
    "UNAUTHENTICATED": (401, "A good API key is needed"),
    "ACCESS_DENIED": (403, "Not allowed"),
    "ENTRY_NOT_FOUND": (404, "No such entry"),
    "NOT_FOUND": (404, "Not found"),
    "METHOD_NOT_ALLOWED": (405, "Method not allowed"),
    "VERSION_MISMATCH": (409, "Another version is in place"),
    "ENTRY_EXISTS": (409, "The slot is taken"),
    "IDEMPOTENCY_CONFLICT": (409, "The Idempotency-Key was used for another request"),
    "TASK_CLOSED": (409, "The task has ended"),
    "RUN_CLOSED": (409, "The run has ended"),
    "VALUE_TOO_LARGE": (413, "The value is too large"),
    "BATCH_TOO_LARGE": (413, "The batch is too large"),
    "BODY_TOO_LARGE": (413, "The body is too large"),
    "PRECONDITION_REQUIRED": (428, "If-Match is needed"),
    "CAPACITY_EXCEEDED": (429, "A limit is reached"),
    "THROTTLED": (429, "Too much at once"),
    "INTERNAL_ERROR": (500, "Something went wrong here"),
    "UNAVAILABLE": (503, "The store is not available"),
}

INTERNAL = "the service failed; the request id leads its operators to the reason"


def problem(error: ServiceError) -> Answer:
    """The problem document of an error."""
    members = dict(error.members)
    if error.index is not None:
        members["index"] = error.index
    if isinstance(error, Conflict) and error.version is not None:
        members["current_version"] = error.version
    if isinstance(error, Conflict) and error.current is not None:
        members["current"] = conflict_document(error.current)
    headers = {name.replace("_", "-"): value for name, value in headers_of(error).items()}
    return _answer(error.code, error.message, members, headers)


def headers_of(error: ServiceError) -> dict[str, str]:
    """What the headers of an error's answer say; names with underscores."""
    if isinstance(error, Throttled | Unavailable):
        return {"retry_after": str(error.retry_after)}
    if isinstance(error, MethodNotAllowed):
        return {"allow": ", ".join(error.allowed)}
    return {"www_authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}


def internal_error() -> Answer:
    """What a caller is told of an error that nobody foresaw: nothing of its inside."""
    return _answer("INTERNAL_ERROR", INTERNAL, {}, {})


def _answer(code: str, message: str, members: dict[str, Any], headers: dict[str, str]) -> Answer:
    status, title = PROBLEMS[code]
    document = {
        "type": f"/docs#{code}",
        "title": title,
        "status": status,
        "detail": message,
        "code": code,
        "message": message,
    } | members
    typed = {"content-type": "application/problem+json"} | headers
    return Answer(status, orjson.dumps(document), typed)

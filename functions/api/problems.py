"""The one table from errors to HTTP (contract §3, RFC 9457)."""

from typing import Any

import orjson

from functions.api.call import Answer
from functions.api.documents import conflict_document
from functions.platform.errors import (
    ERROR_CODES,
    Conflict,
    MethodNotAllowed,
    ServiceError,
    Throttled,
    Unauthenticated,
    Unavailable,
)

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
    status, title, _, _ = ERROR_CODES[code]
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

"""Errors as OpenWOP has them: `{error, message, details?}` (contract §7, OpenWOP RFC 0004)."""

from typing import Any

from functions.api.call import Answer, json_answer
from functions.api.problems import INTERNAL, headers_of
from functions.platform.errors import ERROR_CODES, OPENWOP_ERROR_CODES, ServiceError

ROOT = "/v1/"
"""What the paths of OpenWOP begin with."""

_NAMES = {
    "ACCESS_DENIED": "forbidden",
    "BODY_TOO_LARGE": "payload_too_large",
    "IDEMPOTENCY_CONFLICT": "idempotency_key_mismatch",
    "RUN_ENDED": "run_terminal",
    "THROTTLED": "rate_limited",
    "VALUE_TOO_LARGE": "payload_too_large",
}
_STATUSES = {code: error.status for code, error in (ERROR_CODES | OPENWOP_ERROR_CODES).items()}

_SPOKEN = _NAMES.keys() | {
    "METHOD_NOT_ALLOWED",
    "NOT_FOUND",
    "SECRET_LEAKAGE",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "VALIDATION_ERROR",
}


def envelope(error: ServiceError) -> Answer:
    """The envelope of an error; what a problem document has as members are its details."""
    document: dict[str, Any] = {"error": _name(error.code), "message": error.message}
    if error.members:
        document["details"] = error.members
    return json_answer(_STATUSES[error.code], document, **headers_of(error))


def internal_envelope() -> Answer:
    """What a caller is told of an error that nobody foresaw: nothing of its inside."""
    return json_answer(500, {"error": "internal_error", "message": INTERNAL})


def names_of(status: int) -> list[str]:
    """The errors that have a status."""
    codes = (code for code, of in _STATUSES.items() if of == status and code in _SPOKEN)
    return sorted({_name(code) for code in codes})


def _name(code: str) -> str:
    return _NAMES.get(code, code.lower())

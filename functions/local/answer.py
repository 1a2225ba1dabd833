"""What goes back over the wire: a handler's result, or the gateway's own refusal."""

import base64
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_BODILESS = {204, 304}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Answer:
    """As the server writes it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Refused(Exception):
    """The gateway answers by itself, with this problem document."""

    def __init__(self, status: int, code: str, title: str, message: str, **members: Any) -> None:
        super().__init__(message)
        self.status = status
        self.document = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": message,
            "code": code,
            "message": message,
            **members,
        }


def from_result(result: Mapping[str, Any]) -> Answer:
    """The answer of a handler's result: `{statusCode, headers, body, isBase64Encoded}`."""
    status = result["statusCode"]
    text = result.get("body") or ""
    body = base64.b64decode(text) if result.get("isBase64Encoded") else text.encode()
    headers = list(_clean(result.get("headers") or {}))
    if status in _BODILESS:
        return Answer(status, headers, b"")
    return Answer(status, [*headers, (b"content-length", b"%d" % len(body))], body)


def problem(refused: Refused) -> Answer:
    """The answer of a refusal (RFC 9457)."""
    headers = {"content-type": "application/problem+json", "x-request-id": str(uuid.uuid4())}
    body = orjson.dumps(refused.document).decode()
    return from_result({"statusCode": refused.status, "headers": headers, "body": body})


def malformed_request() -> bytes:
    """The whole answer, as it goes over the wire, to what can't be read as HTTP."""
    message = "this is not a well-formed HTTP/1.1 request"
    errors = [{"field": "request", "message": message}]
    answer = problem(Refused(400, "VALIDATION_ERROR", "Bad Request", message, errors=errors))
    lines = [b"%s: %s" % header for header in answer.headers]
    head = [b"HTTP/1.1 400 Bad Request", *lines, b"connection: close", b"", b""]
    return b"\r\n".join(head) + answer.body


def _clean(headers: Mapping[str, Any]) -> Iterable[tuple[bytes, bytes]]:
    """What may go on the wire: nothing that speaks of the connection or could end a line."""
    for name, value in headers.items():
        lower = name.lower()
        if lower not in HOP_BY_HOP and lower != "content-length":
            safe = _CONTROL.sub(" ", str(value))
            yield lower.encode("ascii"), safe.encode("latin-1", "replace")

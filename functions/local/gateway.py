"""Convert HTTP requests to events and results to responses, as API Gateway does.

Events have the form of HTTP APIs, payload version 2.0. This module does no I/O.
"""

import base64
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from functions.api.error_responses import problem_response
from functions.platform.clock import now_ms
from functions.platform.errors import BodyTooLarge, InternalError, ServiceError, ValidationFailed

MAX_BODY = 10 * 1024 * 1024  # bytes, as in AWS
MAX_HEADERS, MAX_HEADER_BYTES = 100, 32_768
_TIMEOUT = 30.0  # seconds: the maximum time that an HTTP API waits for a function
_HOP_BY_HOP = {
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
_STATUSES_WITHOUT_BODY = {204, 304}
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

Handler = Callable[[dict[str, Any], object], dict[str, Any]]
Headers = Iterable[tuple[str, str]]

_log = logging.getLogger(__name__)


class LocalContext:
    """The part of Lambda's context that the functions read.

    Args:
        stopping: once it is set, the invocation has no time left.
    """

    def __init__(self, stopping: Event | None = None) -> None:
        self._stopping = stopping
        self._deadline = time.monotonic() + _TIMEOUT

    def get_remaining_time_in_millis(self) -> int:
        """Return the invocation's remaining time."""
        is_stopping = self._stopping is not None and self._stopping.is_set()
        return 0 if is_stopping else max(0, int((self._deadline - time.monotonic()) * 1000))


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """An HTTP response as it is sent to the client."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class HeadersTooLarge(ValidationFailed):
    """The request has too many headers, or too large ones."""

    status, title = 431, "The headers are too large"


def to_event(
    method: str, path: str, query: str, headers: Headers, body: bytes, source_ip: str
) -> dict[str, Any]:
    """Build the event that an HTTP API sends to its `$default` route for a request.

    Args:
        method: in uppercase.
        path: percent-decoded once, as real HTTP APIs deliver it.
        query: still percent-encoded, without the question mark.
        headers: names in any case; values of the same name are joined by commas.
        body: encoded as base64 in the event unless it is UTF-8.
    """
    joined = _join((name.lower(), value) for name, value in headers)
    joined = {name: value for name, value in joined.items() if name not in _HOP_BY_HOP}
    cookies = joined.pop("cookie", None)
    now = now_ms()
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": joined,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": joined.get("host", "localhost").partition(":")[0],
            "domainPrefix": "local",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": source_ip,
                "userAgent": joined.get("user-agent", ""),
            },
            "requestId": str(uuid.uuid4()),
            "routeKey": "$default",
            "stage": "$default",
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now // 1000)),
            "timeEpoch": now,
        },
        **_encode_body(body),
    }
    if query:
        event["queryStringParameters"] = _join(parse_qsl(query, keep_blank_values=True))
    if cookies:
        event["cookies"] = cookies.split("; ")
    return event


def _join(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _encode_body(body: bytes) -> dict[str, Any]:
    if not body:
        return {"isBase64Encoded": False}
    try:
        return {"body": body.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


def decode_path(raw: bytes) -> str:
    """Percent-decode a path once, except for its percent signs, as HTTP APIs do."""
    if not raw.startswith((b"/", b"*", b"http://", b"https://")):
        raise ValidationFailed("path", "must begin with /")
    try:
        return unquote_to_bytes(raw).decode().replace("%", "%25")
    except UnicodeDecodeError as error:
        raise ValidationFailed("path", "must be percent-encoded UTF-8") from error


def check_body_size(size: int, max_bytes: int = MAX_BODY) -> None:
    """Check the size of a body, in bytes."""
    if size > max_bytes:
        message = f"a request body has at most {max_bytes} bytes"
        raise BodyTooLarge(message, max=max_bytes, actual=size)


def check_headers(headers: Headers) -> None:
    """Check the number and the size of a request's headers."""
    sizes = [len(name) + len(value) for name, value in headers]
    if len(sizes) > MAX_HEADERS or sum(sizes) > MAX_HEADER_BYTES:
        most = f"{MAX_HEADERS} headers, {MAX_HEADER_BYTES} bytes in all"
        raise HeadersTooLarge("headers", f"must be at most {most}")


def invoke(handler: Handler, event: dict[str, Any]) -> GatewayResponse:
    """Call a function with an event; return 500 without details if it fails, as AWS does."""
    try:
        return to_response(handler(event, LocalContext()))
    except Exception:  # noqa: BLE001 - as the real Lambda service does
        _log.exception("the handler failed")
        return render_error(InternalError())


def to_response(result: Mapping[str, Any]) -> GatewayResponse:
    """Build the response of a function's result: `{statusCode, headers, body, isBase64Encoded}`.

    An answer to HEAD has no body, but the `content-length` of the body of GET.
    """
    status = result["statusCode"]
    text = result.get("body") or ""
    body = base64.b64decode(text) if result.get("isBase64Encoded") else text.encode()
    given = result.get("headers") or {}
    headers = list(_encode_headers(given))
    if status in _STATUSES_WITHOUT_BODY:
        return GatewayResponse(status, headers, b"")
    size = len(body) or int(given.get("content-length", 0))
    return GatewayResponse(status, [*headers, (b"content-length", b"%d" % size)], body)


def render_error(error: ServiceError) -> GatewayResponse:
    """Build the response to a request that the gateway rejects."""
    response = problem_response(error)
    headers = response.headers | {
        "x-request-id": str(uuid.uuid4()),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
    body = response.body.decode()
    return to_response({"statusCode": response.status, "headers": headers, "body": body})


def _encode_headers(headers: Mapping[str, Any]) -> Iterable[tuple[bytes, bytes]]:
    """Remove headers that the connection sets, and replace characters that end a header line."""
    for name, value in headers.items():
        lower = name.lower()
        if lower not in _HOP_BY_HOP and lower != "content-length":
            safe = _CONTROL_CHARACTERS.sub(" ", str(value))
            yield lower.encode("ascii"), safe.encode("latin-1", "replace")

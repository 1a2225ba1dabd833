"""HTTP in, an HTTP API's event (payload 2.0) to the handler, its answer out."""

import asyncio
import base64
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from functions.local.answer import HOP_BY_HOP, Answer, Refused, from_result, problem
from functions.local.context import LocalContext
from functions.platform.clock import now_ms

MAX_BODY = 10 * 1024 * 1024  # bytes; what the real gateway takes

Handler = Callable[[dict[str, Any], object], dict[str, Any]]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger(__name__)


class _Disconnected(Exception):
    """The client went away before its request was whole."""


def to_event(
    method: str,
    path: str,
    query: str,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    source_ip: str,
) -> dict[str, Any]:
    """The event that an HTTP API sends to its `$default` route for a request.

    Args:
        method: in capitals.
        path: percent-decoded once, as real HTTP APIs deliver it.
        query: as it came, still encoded, without the question mark.
        headers: names in any case; those of one name are joined by commas.
        body: as it came; base64 in the event unless it is UTF-8.
        source_ip: the client's address.
    """
    joined = _joined(headers)
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
        **_body(body),
    }
    if query:
        event["queryStringParameters"] = _joined_query(query)
    if cookies:
        event["cookies"] = cookies.split("; ")
    return event


def _joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower not in HOP_BY_HOP:
            joined[lower] = f"{joined[lower]},{value}" if lower in joined else value
    return joined


def _joined_query(query: str) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(body: bytes) -> dict[str, Any]:
    if not body:
        return {"isBase64Encoded": False}
    try:
        return {"body": body.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


def invoke(handler: Handler, event: dict[str, Any]) -> Answer:
    """Like Lambda: whatever a handler raises becomes an answer that tells nothing of it."""
    try:
        return from_result(handler(event, LocalContext(str(uuid.uuid4()))))
    except Exception:  # noqa: BLE001 - as the real Lambda service does
        _log.exception("the handler failed")
        failed = Refused(500, "INTERNAL_ERROR", "Internal Server Error", "the service failed")
        return problem(failed)


class Gateway:
    """The ASGI application: one handler, called from the threads of `pool`."""

    def __init__(self, handler: Handler, pool: Executor) -> None:
        self._handler = handler
        self._pool = pool

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        try:
            event = await _event(scope, receive)
            answer = await asyncio.get_running_loop().run_in_executor(
                self._pool, invoke, self._handler, event
            )
        except _Disconnected:
            return
        except Refused as refused:
            answer = problem(refused)
        start = {"status": answer.status, "headers": answer.headers}
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": answer.body})  # dropped for HEAD


async def _event(scope: Mapping[str, Any], receive: Receive) -> dict[str, Any]:
    headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
    path = decoded_path(scope["raw_path"])
    body = await _read(headers, receive)
    client = scope.get("client")
    return to_event(
        scope["method"],
        path,
        scope["query_string"].decode("latin-1"),
        headers,
        body,
        client[0] if client else "127.0.0.1",
    )


def decoded_path(raw: bytes) -> str:
    """A path as HTTP APIs give it: percent-decoded once, but for its percent signs.

    Raises:
        Refused: it isn't UTF-8.
    """
    try:
        return unquote_to_bytes(raw).decode().replace("%", "%25")
    except UnicodeDecodeError as error:
        message = "the path is not percent-encoded UTF-8"
        errors = [{"field": "path", "message": message}]
        raise Refused(400, "VALIDATION_ERROR", "Bad Request", message, errors=errors) from error


async def _read(headers: Iterable[tuple[str, str]], receive: Receive) -> bytes:
    declared = next((value for name, value in headers if name == "content-length"), "0")
    check_size(int(declared))
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected
        chunk = message.get("body", b"")
        size += len(chunk)
        check_size(size)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks)


def check_size(size: int) -> None:
    """Keeps bodies (bytes) within what the gateway takes.

    Raises:
        Refused: this one is larger.
    """
    if size > MAX_BODY:
        message = f"a request body may have {MAX_BODY} bytes"
        raise Refused(
            413, "BODY_TOO_LARGE", "Content Too Large", message, max=MAX_BODY, actual=size
        )

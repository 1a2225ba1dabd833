"""Test the answers that the gateway gives itself, with any handler."""

import asyncio
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from functions.local.gateway import MAX_BODY, Handler
from functions.local.http_server import GatewayApp


@dataclass
class Response:
    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["code"])


def echo(event: dict[str, Any], _context: object) -> dict[str, Any]:
    return {"statusCode": 200, "headers": {}, "body": json.dumps(event)}


def answering(**answer: Any) -> Handler:
    return lambda _event, _context: answer


def call(
    handler: Handler = echo,
    raw_path: bytes = b"/",
    headers: Iterable[tuple[bytes, bytes]] = (),
    chunks: Iterable[bytes] = (b"",),
) -> tuple[Response, int]:
    """Return the response, and how many chunks of the body were read."""
    messages = [{"type": "http.request", "body": each, "more_body": True} for each in chunks]
    messages[-1]["more_body"] = False
    sent: list[dict[str, Any]] = []
    pending = iter(messages)
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        return next(pending)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "raw_path": raw_path,
        "query_string": b"",
        "headers": list(headers),
        "client": ("127.0.0.1", 1),
    }
    with ThreadPoolExecutor(1) as pool:
        asyncio.run(GatewayApp(handler, pool)(scope, receive, send))
    start, body = sent
    return Response(start["status"], dict(start["headers"]), body["body"]), read


def test_the_path_is_decoded_once_but_for_its_percent_signs() -> None:
    response, _ = call(raw_path=b"/a%252Fb/%C3%A9")
    assert json.loads(response.body)["rawPath"] == "/a%252Fb/é"


def test_a_path_that_is_not_utf8_is_a_problem_document() -> None:
    response, _ = call(raw_path=b"/%ff")
    assert (response.status, response.code) == (400, "VALIDATION_ERROR")
    assert response.headers[b"content-type"] == b"application/problem+json"
    assert response.headers[b"cache-control"] == b"no-store"
    assert response.headers[b"x-request-id"]


def test_a_declared_body_over_the_limit_is_refused_unread() -> None:
    response, read = call(headers=[(b"content-length", b"%d" % (MAX_BODY + 1))])
    assert (response.status, response.code, read) == (413, "BODY_TOO_LARGE", 0)
    document = json.loads(response.body)
    assert (document["max"], document["actual"]) == (MAX_BODY, MAX_BODY + 1)
    assert document["message"] == document["detail"]


def test_an_undeclared_body_is_read_no_further_than_the_limit() -> None:
    mebibyte = b"x" * 1024 * 1024
    response, read = call(chunks=[mebibyte] * 20)
    assert (response.status, read) == (413, 11)


def test_a_body_of_exactly_the_limit_is_accepted() -> None:
    response, _ = call(handler=answering(statusCode=201), chunks=[b"x" * MAX_BODY])
    assert response.status == 201


def test_a_binary_response_is_decoded() -> None:
    response, _ = call(answering(statusCode=200, body="AP8=", isBase64Encoded=True))
    assert response.body == b"\x00\xff"


def test_a_response_cannot_end_a_header_line_or_set_headers_of_the_connection() -> None:
    headers = {
        "X-Echo": "a\r\nSet-Cookie: b",
        "Transfer-Encoding": "chunked",
        "Content-Length": "9",
    }
    response, _ = call(answering(statusCode=200, headers=headers, body="{}"))
    assert response.headers == {b"x-echo": b"a  Set-Cookie: b", b"content-length": b"2"}


def test_a_response_to_head_says_how_long_the_body_is_that_it_leaves_out() -> None:
    response, _ = call(answering(statusCode=200, headers={"content-length": "9"}))
    assert (response.headers[b"content-length"], response.body) == (b"9", b"")


@pytest.mark.parametrize("status", [204, 304])
def test_responses_without_a_body_have_no_content_length(status: int) -> None:
    response, _ = call(answering(statusCode=status, headers={"ETag": '"3"'}, body=""))
    assert (response.headers, response.body) == ({b"etag": b'"3"'}, b"")


def test_a_failed_handler_is_a_500_without_details(caplog: pytest.LogCaptureFixture) -> None:
    def failing(_event: dict[str, Any], _context: object) -> dict[str, Any]:
        raise RuntimeError("the password is 1234")

    response, _ = call(failing)
    assert response.status == 500
    assert b"1234" not in response.body
    assert "1234" in caplog.text


def test_the_context_says_how_long_the_handler_may_take() -> None:
    def remaining(_event: dict[str, Any], context: Any) -> dict[str, Any]:
        return {"statusCode": 200, "body": str(context.get_remaining_time_in_millis())}

    response, _ = call(remaining)
    assert 25_000 < int(response.body) <= 30_000

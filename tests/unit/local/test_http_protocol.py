"""What the local server makes of requests that don't get on, and of odd ones (RFC 9112)."""

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import pytest
import uvicorn

from functions.local import http_protocol
from functions.local.http_protocol import LimitedProtocol
from functions.local.http_server import GatewayApp

_START = b"GET / HTTP/1.1\r\nHost: a\r\n"
_CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
_CLOSE = b"Connection: close\r\n\r\n"
_PATIENCE = 60  # seconds; far more than anything here takes


def echo(event: dict[str, Any], _context: object) -> dict[str, Any]:
    return {"statusCode": 200, "body": json.dumps(event)}


def send(pieces: Sequence[bytes], pause: float = 0.0) -> bytes:
    """Send pieces of at least one request, each for itself, until the server closes; the answers.

    Args:
        pause: seconds between two pieces.
    """
    with ThreadPoolExecutor(1) as pool:
        return asyncio.run(_serve_and_send(GatewayApp(echo, pool), pieces, pause))


async def _serve_and_send(app: GatewayApp, pieces: Sequence[bytes], pause: float) -> bytes:
    config = uvicorn.Config(app, http=LimitedProtocol, lifespan="off", log_level="critical")
    config.load()
    server = uvicorn.Server(config)
    listener = await asyncio.get_running_loop().create_server(
        lambda: LimitedProtocol(config, server.server_state, {}), "127.0.0.1", 0
    )
    async with listener:
        reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname()[:2])
        answers = asyncio.create_task(_read_all(reader))
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(pause)
            if answers.done():
                break
        received = await asyncio.wait_for(answers, _PATIENCE)
        writer.close()
        return received


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    received = b""
    try:
        while piece := await reader.read(65_536):
            received += piece
    except ConnectionResetError:  # the server closed while more was sent
        pass
    return received


def read_event(answer: bytes) -> dict[str, Any]:
    """Read the event of the last answer."""
    event: dict[str, Any] = json.loads(answer.rpartition(b"\r\n\r\n")[2])
    return event


@pytest.mark.parametrize(
    ("pieces", "pause"),
    [
        ([_START + b"x: "], 0.0),
        ([_START, *repeat(b"x: y\r\n", 1_000)], 0.02),
        (list(repeat(b"\r\n", 1_000)), 0.02),
    ],
    ids=["no more comes", "a header at a time", "empty lines"],
)
def test_a_connection_whose_head_does_not_end_in_time_is_closed(
    monkeypatch: pytest.MonkeyPatch, pieces: list[bytes], pause: float
) -> None:
    monkeypatch.setattr(http_protocol, "READ_SECONDS", 0.1)
    assert send(pieces, pause) == b""


@pytest.mark.parametrize(
    "pieces",
    [
        [_START + b"x: ", *repeat(b"y" * 10_000, 20)],
        [_START, *repeat(b"x: %b\r\n" % (b"y" * 10_000), 20)],
        [b"GET /", *repeat(b"y" * 10_000, 20)],
        [_CHUNKED + b"x: ", *repeat(b"y" * 10_000, 20)],
    ],
    ids=["a header", "headers", "a path", "a trailer"],
)
def test_what_grows_beyond_the_size_of_a_head_is_refused(pieces: list[bytes]) -> None:
    assert send(pieces).startswith(b"HTTP/1.1 400 ")


def test_a_head_may_come_in_pieces_and_a_body_may_be_larger() -> None:
    body = b"z" * 200_000
    head = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % len(body)
    answer = send([*(bytes([each]) for each in head), _CLOSE, body[:150_000], body[150_000:]])
    assert read_event(answer)["body"] == body.decode()


def test_requests_that_come_together_are_answered_in_order() -> None:
    paths = [b"/%d" % number for number in range(5)]
    heads = [b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % path for path in paths]
    answers = send([b"".join(heads) + _START + _CLOSE]).split(b"HTTP/1.1 200 ")[1:]
    assert [read_event(each)["rawPath"].encode() for each in answers] == [*paths, b"/"]


def test_a_trailer_is_no_header() -> None:
    answer = send([_CHUNKED + b"X-API-Key: key\r\n\r\n" + _START + _CLOSE])
    assert answer.count(b"HTTP/1.1 200 ") == 2
    assert b"x-api-key" not in answer.lower()


def test_a_request_to_upgrade_is_answered_as_any_other() -> None:
    upgrade = (
        b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"
    )
    assert send([_START + upgrade + b"\r\n"]).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("hosts", [b"", b"Host: a\r\nHost: b\r\n"])
def test_a_request_to_no_host_or_to_several_is_a_400(hosts: bytes) -> None:
    answer = send([b"GET / HTTP/1.1\r\n" + hosts + _CLOSE])
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_a_target_may_be_a_whole_url() -> None:
    answer = send([b"GET http://a.example/b?c=d HTTP/1.1\r\nHost: a.example\r\n" + _CLOSE])
    event = read_event(answer)
    assert (event["rawPath"], event["rawQueryString"]) == ("/b", "c=d")

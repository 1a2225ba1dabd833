"""Test the local server with requests that are odd, too large, or hardly HTTP."""

import json
import socket
from pathlib import Path

import pytest

from functions.local.engine import find_binary
from tests.contract.local_server import PATIENCE, ROOT, LocalServer

pytestmark = pytest.mark.skipif(
    find_binary(ROOT) is None, reason="no embedded database for this platform"
)


def raw(server: LocalServer, request: bytes) -> bytes:
    """The answer to bytes that no HTTP library would send."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_body_over_ten_megabytes_is_a_problem_document(server: LocalServer) -> None:
    with server.client() as client:
        answer = client.post("/api/v1/memory", content=b"x" * (10 * 1024 * 1024 + 1))
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "BODY_TOO_LARGE"
        assert client.get("/health").status_code == 200


def test_a_forged_address_of_a_file_is_refused_whatever_its_body(server: LocalServer) -> None:
    with server.client() as client:
        for body in (b"", b"x" * 1000):
            answer = client.put("/files/forged", content=body)
            assert (answer.status_code, answer.json()["code"]) == (403, "ACCESS_DENIED")


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET /%ff HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"GET http://example.org/%c0%af HTTP/1.1",
    ],
)
def test_an_odd_request_target_is_a_problem_document(
    server: LocalServer, request_line: bytes
) -> None:
    answer = raw(server, request_line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ")[1])
    assert 400 <= status < 500
    assert json.loads(body)["status"] == status


@pytest.mark.parametrize(
    "request_line",
    [
        b"nonsense",
        b"GET /a b HTTP/1.1",
        b"GET /caf\xc3\xa9 HTTP/1.1",
        b"CONNECT example.org:443 HTTP/1.1",
        b"GET /health HTTP/1.1\r\nContent-Length: 1, 2",
        b"GET /health HTTP/1.1\r\nX-Agent-ID: a\x00b",
        b"GET /health HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_a_400(server: LocalServer, request_line: bytes) -> None:
    answer = raw(server, request_line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_a_head_request_is_answered_without_a_body(server: LocalServer) -> None:
    answer = raw(server, b"HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 ")
    assert body == b""


def test_no_header_names_the_server(server: LocalServer) -> None:
    assert "server" not in server.client().get("/health").headers


def test_headers_have_a_limit_of_number_and_of_size(server: LocalServer) -> None:
    start, end = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", b"\r\n"
    assert raw(server, start + b"x: y\r\n" * 90 + end).startswith(b"HTTP/1.1 200 ")
    assert raw(server, start + b"x: y\r\n" * 100 + end).startswith(b"HTTP/1.1 431 ")
    large = b"".join(b"x%d: %s\r\n" % (number, b"y" * 1000) for number in range(80))
    assert raw(server, start + large + end).startswith(b"HTTP/1.1 431 ")


def test_nobody_else_reaches_the_embedded_database(server: LocalServer) -> None:
    ports = _listening_ports(server.engine())
    assert ports
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def _listening_ports(process: int) -> list[int]:
    """The ports of 127.0.0.1 that are listened on in a process's network."""
    lines = Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return [int(each[1].partition(":")[2], 16) for each in fields if each[3] == "0A"]


def test_a_key_in_a_trailer_opens_nothing(server: LocalServer) -> None:
    head = b"GET /api/v1/me HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\nConnection: close"
    trailer = b"0\r\nX-API-Key: " + server.api_key.encode() + b"\r\n\r\n"
    assert raw(server, head + b"\r\n\r\n" + trailer).startswith(b"HTTP/1.1 401 ")

"""Serve prepared responses in the place of DynamoDB, and record the requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class RecordedRequest:
    """A request as it arrived; the names of its headers in lower case."""

    headers: dict[str, str]
    body: bytes


@dataclass
class RecordingServer:
    """The requests so far, and the raw responses to come; without one it closes the connection."""

    url: str
    requests: list[RecordedRequest] = field(default_factory=list)
    responses: list[bytes] = field(default_factory=list)


@contextmanager
def start_recording_server() -> Iterator[RecordingServer]:

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            headers = {name.lower(): text for name, text in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            recorder.requests.append(RecordedRequest(headers, body))
            if recorder.responses:
                self.wfile.write(recorder.responses.pop(0))
            else:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Keep the tests' output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        recorder = RecordingServer(f"http://127.0.0.1:{server.server_port}")
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield recorder
        finally:
            server.shutdown()


def render_response(body: bytes, status: int = 200, **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

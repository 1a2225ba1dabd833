"""A server that keeps what it is sent, and answers as it is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Sent:
    """A request as it arrived; the names of its headers in lower case."""

    headers: dict[str, str]
    body: bytes


class Last(bytes):
    """An answer after which the server hangs up."""


@dataclass
class RecordingServer:
    """What it was sent so far, and what it says next, raw; without more to say it hangs up."""

    url: str
    connections: int = 0
    sent: list[Sent] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)


@contextmanager
def recording(tls: SSLContext | None = None) -> Iterator[RecordingServer]:
    """A running server on this machine; it speaks TLS where it is given how."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            kept.connections += 1

        def do_POST(self) -> None:
            headers = {name.lower(): text for name, text in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            kept.sent.append(Sent(headers, body))
            said = kept.answers.pop(0) if kept.answers else Last()
            self.wfile.write(said)
            self.close_connection = isinstance(said, Last)

        def log_message(self, *_: Any) -> None:
            """Nothing to be read in a test."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        scheme = "http" if tls is None else "https"
        kept = RecordingServer(f"{scheme}://127.0.0.1:{server.server_port}")
        if tls is not None:
            server.socket = tls.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield kept
        finally:
            server.shutdown()


def answer(body: bytes, status: int = 200, **headers: object) -> bytes:
    """An answer as it goes over the wire; `connection` names the header Connection."""
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

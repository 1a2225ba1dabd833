"""An HTTP proxy on loopback that breaks calls as networks and servers break them, by script."""

import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, parse_headers

_BEFORE_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close sends a reset, and drops what is unsent
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


@dataclass(frozen=True)
class Request:
    """A request as the client sent it."""

    method: str
    path: str
    headers: HTTPMessage
    body: bytes

    @property
    def idempotency_key(self) -> str | None:
        """Its Idempotency-Key, if it carries one."""
        return self.headers.get("idempotency-key")


class Exchange:
    """One request on its way: a fault decides what becomes of it."""

    def __init__(self, request: Request, client: socket.socket, upstream: str) -> None:
        self.request = request
        self.over = False
        self._client = client
        self._upstream = upstream

    def forward(self, before_answer: Callable[[], object] = lambda: None) -> bytes:
        """Forward the request; return the answer as the bytes of the connection.

        Args:
            before_answer: runs once the server has the request, before the answer is read.

        Raises:
            OSError, HTTPException: the server isn't there, or dies over it.
        """
        connection = HTTPConnection(self._upstream, timeout=60)
        try:
            headers = dict(self.request.headers.items())
            connection.request(self.request.method, self.request.path, self.request.body, headers)
            before_answer()
            return _rendered(connection.getresponse())
        finally:
            connection.close()

    def send(self, sent: bytes) -> None:
        self._client.sendall(sent)

    def drop(self) -> None:
        self.over = True

    def reset(self) -> None:
        """Resets the client's connection: it learns so at once, even in the middle of a send."""
        self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _BEFORE_RESET)
        self.over = True

    def await_hang_up(self) -> None:
        """Returns when the client has closed its connection."""
        self._client.recv(1)
        self.over = True


Fault = Callable[[Exchange], None]


def _rendered(received: HTTPResponse) -> bytes:
    body = received.read()
    kept = [(k, v) for k, v in received.getheaders() if k.lower() not in _HOP_BY_HOP]
    return answer(received.status, body, *kept)


def answer(status: int, body: bytes, *headers: tuple[str, str]) -> bytes:
    sized = [*headers, ("Content-Length", str(len(body)))] if status not in (204, 304) else headers
    head = "".join(f"{name}: {value}\r\n" for name, value in sized)
    return f"HTTP/1.1 {status} -\r\n{head}\r\n".encode("latin-1") + body


def passed(exchange: Exchange) -> None:
    """No fault."""
    exchange.send(exchange.forward())


class FaultProxy(socketserver.ThreadingTCPServer):
    """Passes requests on to `upstream` (host:port), each as the script says."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.upstream = upstream
        self.requests: list[Request] = []
        self._script: Iterator[Fault] = iter(())
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """The URL for clients."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Closes a connection at once, so that a reset is one."""
        self.close_request(request)

    def plan(self, *faults: Fault) -> None:
        """Sets what becomes of the next requests; those after them pass. Forgets earlier ones."""
        self.follow(faults)

    def follow(self, script: Iterable[Fault]) -> None:
        """Sets what becomes of the next requests, perhaps of all. Forgets earlier ones."""
        with self._lock:
            self._script = iter(script)
            self.requests = []

    def fault_for(self, request: Request) -> Fault:
        with self._lock:
            self.requests.append(request)
            return next(self._script, passed)


class _Connection(socketserver.StreamRequestHandler):
    """A client's connection, request by request."""

    server: FaultProxy

    def handle(self) -> None:
        over = False
        while not over and (line := self.rfile.readline()):
            exchange = Exchange(self._request(line), self.connection, self.server.upstream)
            try:
                self.server.fault_for(exchange.request)(exchange)
            except (OSError, HTTPException):  # the server or the client is gone
                return
            over = exchange.over

    def _request(self, line: bytes) -> Request:
        method, path, _ = line.decode("latin-1").split()
        headers = parse_headers(self.rfile)
        return Request(
            method, path, headers, self.rfile.read(int(headers.get("content-length", 0)))
        )


@contextmanager
def proxy_to(address: str) -> Iterator[FaultProxy]:
    """A proxy in front of the server at `address` (a URL)."""
    with FaultProxy(address.removeprefix("http://")) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()

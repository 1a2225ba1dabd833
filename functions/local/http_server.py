"""The HTTP server: uvicorn receives requests, and threads call the API function."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from functions.api.app import App
from functions.container import Container
from functions.local import gateway
from functions.local.file_server import FileServer
from functions.local.gateway import GatewayResponse, Handler
from functions.local.settings import StartupError
from functions.local.sign_in import SignIn
from functions.platform.archive_storage import FILES_PATH
from functions.platform.cold_start import pause_gc
from functions.platform.errors import ServiceError

_THREADS = 32
_KEEP_ALIVE = 75  # seconds: longer than common clients keep a connection, so that they close first
_GRACE = 10  # seconds for requests in flight after a signal to stop

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class ClientDisconnected(Exception):
    """The client closed the connection before its request was complete."""


@dataclass(eq=False)
class GatewayApp:
    """The ASGI application: calls one function from the threads of an executor.

    Args:
        files: serves the signed addresses of files; None if there are none.
        sign_in: opens the console's sessions; None if there are none.
        on_start: called once, when the server has started.
    """

    _handler: Handler
    _executor: Executor
    _files: FileServer | None = None
    _on_start: Callable[[], None] = lambda: None
    _sign_in: SignIn | None = None

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        else:
            await self._respond(scope, receive, send)

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self._on_start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _respond(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        try:
            call = await self._read_call(scope, receive)
            response = await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except ClientDisconnected:
            return
        except ServiceError as error:
            response = gateway.render_error(error)
        start = {"status": response.status, "headers": response.headers}
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": response.body})  # not sent for HEAD

    async def _read_call(
        self, scope: Mapping[str, Any], receive: Receive
    ) -> Callable[[], GatewayResponse]:
        """Read a request, and return the call that answers it."""
        path, method = scope["raw_path"].decode("latin-1"), scope["method"]
        if self._sign_in is not None and (opened := _answer_sign_in(self._sign_in, scope)):
            return lambda: opened
        if self._files is None or not path.startswith(FILES_PATH):
            event = await _read_event(scope, receive, self._sign_in)
            return partial(gateway.invoke, self._handler, event)
        body = await _read_body(receive, self._files.limit_body(method, path))
        return partial(self._files.handle, method, path, _read_headers(scope), body)


def _read_headers(scope: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]


def _answer_sign_in(sign_in: SignIn, scope: Mapping[str, Any]) -> GatewayResponse | None:
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return sign_in.answer(scope["method"], path, query, _read_headers(scope), _get_client(scope))


def _get_client(scope: Mapping[str, Any]) -> str:
    client = scope.get("client")
    return client[0] if client else "127.0.0.1"


async def _read_event(
    scope: Mapping[str, Any], receive: Receive, sign_in: SignIn | None
) -> dict[str, Any]:
    headers = _read_headers(scope)
    gateway.check_headers(headers)
    if sign_in is not None:
        headers = sign_in.add_key(headers)
    path = gateway.decode_path(scope["raw_path"])
    declared = next((value for name, value in headers if name == "content-length"), "0")
    gateway.check_body_size(int(declared))
    body = await _read_body(receive, gateway.MAX_BODY)
    query = scope["query_string"].decode("latin-1")
    return gateway.to_event(scope["method"], path, query, headers, body, _get_client(scope))


async def _read_body(receive: Receive, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        chunk = message.get("body", b"")
        size += len(chunk)
        gateway.check_body_size(size, max_bytes)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks)


def build_app(container: Container, sign_in: SignIn, on_start: Callable[[], None]) -> GatewayApp:
    """Build the ASGI application of the service; the last arguments are as for `GatewayApp`."""
    with pause_gc():
        handler, files = App(container), FileServer(container.folder_storage)
    executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="handler")
    return GatewayApp(handler, executor, files, on_start, sign_in)


class _Protocol(HttpToolsProtocol):
    """Parses requests; fields of a trailer are no headers."""

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.headers = []  # the request keeps its own headers


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address; connections wait in the socket's backlog until they are accepted.

    Args:
        host: a name or address of this machine.
        port: 0 takes any free port.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise StartupError(
            f"can't listen on {host} port {port} ({reason}); "
            "choose another address with AGENT_MEMORY_PORT or AGENT_MEMORY_HOST"
        ) from error


def build_url(listener: socket.socket) -> str:
    """Build the URL under which clients on this machine reach the listener."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def is_public(listener: socket.socket) -> bool:
    """Tell whether other machines can reach the listener."""
    host = listener.getsockname()[0]
    return not (host.startswith("127.") or host == "::1")


def serve(app: GatewayApp, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, and finish the requests in flight."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the client's address is that of its connection
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )
    uvicorn.Server(config).run(sockets=[listener])

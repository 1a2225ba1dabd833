"""The HTTP server: uvicorn in front, the API function in threads behind it."""

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Self

import uvicorn
from uvicorn.supervisors import Multiprocess

from functions.local.bootstrap import build_api
from functions.local.data_folder import DataFolder
from functions.local.gateway import (
    GatewayError,
    Handler,
    check_body_size,
    decode_path,
    invoke,
    render_error,
    to_event,
)
from functions.local.settings import LocalSettings, StartupError

_THREADS = 32
_BACKLOG = 2048
_KEEP_ALIVE = 75  # seconds: longer than common clients keep a connection, so that they close first
_GRACE = 10  # seconds for requests in flight, once asked to stop
_UNRESPONSIVE = 20  # seconds until a worker that doesn't answer its supervisor is replaced

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class ClientDisconnected(Exception):
    """The client closed the connection before its request was complete."""


class GatewayApp:
    """The ASGI application: calls one function from the threads of an executor."""

    def __init__(self, handler: Handler, executor: Executor) -> None:
        self._handler = handler
        self._executor = executor

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        try:
            event = await _read_event(scope, receive)
            response = await asyncio.get_running_loop().run_in_executor(
                self._executor, invoke, self._handler, event
            )
        except ClientDisconnected:
            return
        except GatewayError as error:
            response = render_error(error)
        start = {"status": response.status, "headers": response.headers}
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": response.body})  # not sent for HEAD


async def _read_event(scope: Mapping[str, Any], receive: Receive) -> dict[str, Any]:
    headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
    path = decode_path(scope["raw_path"])
    declared = next((value for name, value in headers if name == "content-length"), "0")
    check_body_size(int(declared))
    body = await _read_body(receive)
    client = scope.get("client")
    source_ip = client[0] if client else "127.0.0.1"
    query = scope["query_string"].decode("latin-1")
    return to_event(scope["method"], path, query, headers, body, source_ip)


async def _read_body(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        chunk = message.get("body", b"")
        size += len(chunk)
        check_body_size(size)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks)


def create_app() -> GatewayApp:
    """Build the application of one process, from the settings in its environment.

    A worker process ends with the process that started it, however that one ends.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_stop_with, args=(parent,), daemon=True).start()
    settings = LocalSettings.from_env()
    executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="handler")
    return GatewayApp(build_api(settings, DataFolder(settings.data)), executor)


def _stop_with(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def listen(host: str, port: int) -> socket.socket:
    """Take the address, before anything else is started.

    Raises:
        StartupError: the address is taken, or isn't this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise StartupError(
            f"can't listen on {host} port {port} ({reason}); "
            "choose another with AGENT_MEMORY_PORT or AGENT_MEMORY_HOST"
        ) from error


class SharedAddress(socket.socket):
    """A socket at an address of which every worker process gets a listener of its own.

    The kernel then spreads the connections over the workers. From one common listener, the first
    worker to wake takes all that wait: often all eight of eight clients.
    """

    @classmethod
    def bind_to(cls, family: int, address: tuple[str, int]) -> Self:
        """Bind one more socket to an address."""
        shared = cls(family)
        shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        shared.bind(address)
        return shared

    def __reduce__(self) -> tuple[Any, ...]:
        """Let uvicorn, which pickles the socket for each worker, give it a new one."""
        return SharedAddress.bind_to, (self.family, self.getsockname()[:2])


def render_url(listener: socket.socket) -> str:
    """Return the URL under which a client on this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def serve(listener: socket.socket, workers: int) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, and finish the requests in flight.

    Args:
        listener: accepts the connections, or has taken the address for the workers.
        workers: one serves in this process; more are processes that uvicorn starts and replaces.
    """
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    address = listener.getsockname()[:2]
    config = uvicorn.Config(
        f"{__name__}:{create_app.__name__}",
        factory=True,
        workers=workers,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # who calls is whoever connects
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_UNRESPONSIVE,
    )
    if workers == 1:
        uvicorn.Server(config).run(sockets=[listener])
        return
    on_hang_up = signal.getsignal(signal.SIGHUP)
    listener.close()
    with SharedAddress.bind_to(listener.family, address) as shared:
        supervisor = Multiprocess(config, sockets=[shared])
        signal.signal(signal.SIGHUP, on_hang_up)  # uvicorn's own handler restarts the workers
        supervisor.run()

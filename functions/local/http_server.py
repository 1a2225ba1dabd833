"""The HTTP server: uvicorn in front, the API function in threads behind it."""

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from functions.local import gateway
from functions.local.bootstrap import LOG_WAIT_SECONDS, build_api, build_files
from functions.local.data_folder import DataFolder
from functions.local.fair_slots import FairSlots
from functions.local.file_server import FileServer, is_file_path
from functions.local.gateway import GatewayError, GatewayResponse, Handler
from functions.local.http_protocol import READ_SECONDS, LimitedProtocol
from functions.local.listeners import BACKLOG, Listeners, WorkerListener
from functions.local.settings import LocalSettings
from functions.platform.cold_start import pause_gc

_THREADS, _THREADS_PER_CALLER = 32, 2
_KEEP_ALIVE = 75  # seconds: longer than common clients keep a connection, so that they close first
_GRACE = 10  # seconds for requests in flight, once asked to stop
_UNRESPONSIVE = 20  # seconds until a worker that doesn't answer its supervisor is replaced

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class ClientDisconnected(Exception):
    """The client closed the connection before its request was complete."""


class GatewayApp:
    """The ASGI application: calls one function from the threads of an executor.

    Args:
        executor: has the threads.
        files: serves the addresses of files, if there are any.
    """

    def __init__(
        self, handler: Handler, executor: Executor, files: FileServer | None = None
    ) -> None:
        self._handler = handler
        self._executor = executor
        self._files = files
        self._slots = FairSlots(_THREADS, _THREADS_PER_CALLER)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(READ_SECONDS):
                call = await self._read_call(scope, receive)
            async with self._slots.hold(_get_caller(scope)):
                response = await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except ClientDisconnected:
            return
        except TimeoutError:
            response = gateway.render_error(gateway.build_timeout_error(READ_SECONDS))
        except GatewayError as error:
            response = gateway.render_error(error)
        start = {"status": response.status, "headers": response.headers}
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": response.body})  # not sent for HEAD

    async def _read_call(
        self, scope: Mapping[str, Any], receive: Receive
    ) -> Callable[[], GatewayResponse]:
        """Read a request; return what answers it."""
        path, method = scope["raw_path"].decode("latin-1"), scope["method"]
        if self._files is None or not is_file_path(path):
            return partial(gateway.invoke, self._handler, await _read_event(scope, receive))
        body = await _read_body(receive, self._files.limit_body(method, path))
        return partial(self._files.handle, method, path, _read_headers(scope), body)


def _get_caller(scope: Mapping[str, Any]) -> str:
    """Get what identifies the caller: the credentials, whatever they are worth."""
    headers = dict(scope["headers"])
    credentials: bytes = headers.get(b"x-api-key") or headers.get(b"authorization") or b""
    return credentials.decode("latin-1")


def _read_headers(scope: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]


async def _read_event(scope: Mapping[str, Any], receive: Receive) -> dict[str, Any]:
    headers = _read_headers(scope)
    gateway.check_headers(headers)
    path = gateway.decode_path(scope["raw_path"])
    declared = next((value for name, value in headers if name == "content-length"), "0")
    gateway.check_body_size(int(declared))
    body = await _read_body(receive, gateway.MAX_BODY)
    client = scope.get("client")
    source_ip = client[0] if client else "127.0.0.1"
    query = scope["query_string"].decode("latin-1")
    return gateway.to_event(scope["method"], path, query, headers, body, source_ip)


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


def create_app() -> GatewayApp:
    """Build the application of one process, from the settings in its environment.

    A worker process ends with the process that started it, however that one ends.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_stop_with, args=(parent,), daemon=True).start()
    settings = LocalSettings.from_env()
    executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="handler")
    folder = DataFolder(settings.data)
    with pause_gc():
        handler = build_api(settings, folder, log_wait_seconds=LOG_WAIT_SECONDS)
        files = build_files(settings, folder)
    return GatewayApp(handler, executor, files)


def _stop_with(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def serve(listeners: Listeners, folder: Path) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, and finish the requests in flight.

    Args:
        listeners: a single one is served in this process; of more, each is served by a process
            that uvicorn starts and replaces.
    """
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    workers = len(listeners.sockets)
    config = uvicorn.Config(
        f"{__name__}:{create_app.__name__}",
        factory=True,
        workers=workers,
        http=LimitedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # who calls is whoever connects
        backlog=BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_UNRESPONSIVE,
    )
    if workers == 1:
        uvicorn.Server(config).run(sockets=listeners.sockets)
        return
    on_hang_up = signal.getsignal(signal.SIGHUP)
    with WorkerListener(listeners.sockets, folder) as listener:
        supervisor = Multiprocess(config, sockets=[listener])
        signal.signal(signal.SIGHUP, on_hang_up)  # uvicorn's own handler restarts the workers
        supervisor.run()

"""The HTTP server of a process: an event loop in front, handlers in threads behind."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from functions.local import handover
from functions.local.answer import malformed_request
from functions.local.failure import CannotServe
from functions.local.gateway import Gateway, Handler
from functions.local.processes import ENDINGS, endings_held

_THREADS = 32
_BACKLOG = 2048
_KEEP_ALIVE = 75  # seconds: longer than common clients keep a connection, so that they close first
_GRACE = 10  # seconds for requests in flight, once asked to stop


class _Protocol(HttpToolsProtocol):
    """Answers what isn't HTTP with a problem document, too."""

    def send_400_response(self, _msg: str) -> None:
        self.transport.write(malformed_request())
        self.transport.close()


def listen(host: str, port: int) -> socket.socket:
    """Takes the address, before anything else is started.

    Raises:
        CannotServe: it is taken, or isn't this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise CannotServe(
            f"can't listen on {host} port {port} ({reason}); "
            "choose another with AGENT_MEMORY_PORT or AGENT_MEMORY_HOST"
        ) from error


def url(listener: socket.socket) -> str:
    """The address under which a client on this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


class _Uvicorn(uvicorn.Server):
    """Says so when it takes connections; takes those, too, that come over a channel."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[], None],
        channel: socket.socket | None,
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._channel = channel
        self._opening: set[asyncio.Task[Any]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._channel is not None:
            asyncio.get_running_loop().add_reader(self._channel, self._take, self._channel)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
        self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._channel is not None:  # what comes now is for the next process
            asyncio.get_running_loop().remove_reader(self._channel)
        await super().shutdown(sockets)

    def _take(self, channel: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for connection in handover.take(channel):
            opening = loop.create_task(loop.connect_accepted_socket(self._protocol, connection))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    def _protocol(self) -> _Protocol:
        return _Protocol(self.config, self.server_state, self.lifespan.state)


class Server:
    """Serves a handler until it is told to stop.

    Args:
        handler: called from several threads.
        started: called once it takes connections.
        listener: accepts connections from it, if given.
        channel: takes connections that are handed over by it, if given.
    """

    def __init__(
        self,
        handler: Handler,
        started: Callable[[], None],
        *,
        listener: socket.socket | None = None,
        channel: socket.socket | None = None,
    ) -> None:
        logging.getLogger("uvicorn").setLevel(logging.ERROR)
        self._listeners = [] if listener is None else [listener]
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="handler")
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                Gateway(handler, self._pool),
                http=_Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # who calls is whoever connects
                backlog=_BACKLOG,
                timeout_keep_alive=_KEEP_ALIVE,
                timeout_graceful_shutdown=_GRACE,
            ),
            started,
            channel,
        )

    def run(self) -> None:
        """Serves; at SIGINT or SIGTERM finishes what is in flight, then raises it again.

        A signal that comes before it serves waits until it does.
        """
        try:
            with endings_held():
                self._uvicorn.run(sockets=self._listeners)
        finally:
            self._pool.shutdown()

    def stop(self) -> None:
        """Makes `run` return; may be called from any thread."""
        self._uvicorn.should_exit = True

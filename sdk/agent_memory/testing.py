"""For tests of programs that use memory: the service itself, in the test's process.

It needs no port, AWS or key, and tests move its clock. The fixture `memory_service` of the pytest
plugin is a `MemoryService`; elsewhere, open one with `memory_service()`.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Literal, Protocol

import anyio.to_thread
import httpx

from agent_memory import AsyncClient, Client

__all__ = ["Clock", "MemoryService", "ServiceNotInstalledError", "memory_service"]

_SERVER_URL = "http://memory.test"
_IN_PROCESS = "local.in_process"
_SERVICES = ("agent_memory_service", "functions")  # installed; beside a checkout of it
_MILLISECOND = timedelta(milliseconds=1)
Kind = Literal["agent", "coordinator", "user"]


class ServiceNotInstalledError(Exception):
    """The service is not installed; the message names the remedy."""


class Answer(Protocol):
    """An HTTP response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Process(Protocol):
    """The service in this process."""

    def begin(self, clock: Callable[[], int]) -> str:
        """Delete all data; return the API key of a new user with all permissions."""

    def call(
        self, method: str, target: bytes, headers: Iterable[tuple[str, str]], body: bytes
    ) -> Answer:
        """Handle one HTTP request."""

    def settle(self) -> None:
        """Do all background work now."""


class Clock:
    """The service's time. It starts at the present, and only tests move it.

    Each call moves it by a millisecond, so that later calls in a test have later times.
    """

    def __init__(self) -> None:
        self._now = datetime.now(UTC)  # noqa: TID251 - where the test's own time begins
        self._lock = Lock()

    @property
    def now(self) -> datetime:
        """The present moment, in UTC; does not move the clock."""
        return self._now

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Move the clock forward.

        Raises:
            ValueError: the duration is negative.
        """
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        if step < timedelta():
            raise ValueError("the clock only moves forward")
        with self._lock:
            self._now += step

    def __call__(self) -> int:
        """Return the present moment in epoch ms, for the service."""
        with self._lock:
            self._now += _MILLISECOND
            return int(self._now.timestamp() * 1000)


class InProcessTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends requests to the service in this process, for both kinds of clients."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Handle one request."""
        return self._answered(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Handle one request, in a thread."""
        body = await request.aread()
        return await anyio.to_thread.run_sync(self._answered, request, body)

    def _answered(self, request: httpx.Request, body: bytes) -> httpx.Response:
        headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
        ]
        answer = self._process.call(request.method, request.url.raw_path, headers, body)
        return httpx.Response(answer.status, headers=answer.headers, content=answer.body)


class MemoryService(Client):
    """An empty memory service, and the `Client` of its user `admin`, who has all permissions.

    Attributes:
        clock: the service's time.
        transport: for clients that your own code creates: `Client` or `AsyncClient` with this
            `transport` and a key of `key_of`.
    """

    def __init__(self, process: Process) -> None:
        self.clock = Clock()
        self.transport = InProcessTransport(process)
        self._process = process
        self._known: dict[str, tuple[Kind, str]] = {"admin": ("user", process.begin(self.clock))}
        super().__init__(_SERVER_URL, self._known["admin"][1], transport=self.transport)

    def as_agent(self, id: str) -> Client:
        """Return a client of the agent `id`, which is created at its first use.

        Raises:
            ValueError: `id` was created as another kind.
        """
        return self._client(id, "agent")

    def as_coordinator(self, id: str) -> Client:
        """Return a client of the coordinator `id`; otherwise like `as_agent`."""
        return self._client(id, "coordinator")

    def as_user(self, id: str) -> Client:
        """Return a client of the user `id`; otherwise like `as_agent`."""
        return self._client(id, "user")

    def as_async(self, id: str = "admin") -> AsyncClient:
        """Return an `AsyncClient` of the principal `id`; a new one becomes an agent."""
        key = self.key_of(id)
        return AsyncClient(_SERVER_URL, key, transport=self.transport)

    def key_of(self, id: str = "admin") -> str:
        """Return the API key of the principal `id`; a new one becomes an agent."""
        if id not in self._known:
            self._introduce(id, "agent")
        return self._known[id][1]

    def _client(self, id: str, kind: Kind) -> Client:
        if id not in self._known:
            self._introduce(id, kind)
        known, key = self._known[id]
        if known != kind:
            raise ValueError(f"{id!r} was created as {known}, not as {kind}; use another id")
        return Client(_SERVER_URL, key, transport=self.transport)

    def _introduce(self, id: str, kind: Kind) -> None:
        body = {"id": id, "kind": kind}
        answer = self.request("POST", "/api/v1/principals", json=body).json()
        self._known[id] = kind, answer["api_key"]

    def settle(self) -> None:
        """Do all background work of the service now, as of the present `clock`.

        Afterwards, logs have all events, expired entries are removed, and evictions and archivals
        are finished.

        Raises:
            RuntimeError: the service failed.
        """
        self._process.settle()


def process() -> AbstractContextManager[Process]:
    """Start the service, which takes about a second.

    Raises:
        ServiceNotInstalledError: it isn't installed.
    """
    started: AbstractContextManager[Process] = _import_service().start_in_process()
    return started


def _import_service() -> Any:
    """Import the service: the installed one, else the checkout's that is on the path."""
    for name in _SERVICES:
        module = f"{name}.{_IN_PROCESS}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not module.startswith(error.name or ""):
                raise ServiceNotInstalledError(_render_missing(error.name)) from error
    raise ServiceNotInstalledError(_render_missing(_SERVICES[0]))


def _render_missing(name: str | None) -> str:
    return (
        f"the memory service runs in this process, but {name!r} isn't installed; `make wheels` in "
        'its repository builds it: pip install "$(echo dist/agent_memory_runtime-*.whl)[testing]"'
    )


@contextmanager
def memory_service() -> Iterator[MemoryService]:
    """Yield a memory service for a `with` block; with pytest, use the fixture of the same name.

    Raises:
        ServiceNotInstalledError: it isn't installed.
    """
    with process() as started, MemoryService(started) as service:
        yield service

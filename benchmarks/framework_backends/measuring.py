"""How a backend is measured, and how its figures are shown."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Protocol

import httpx
from agent_memory import Client

Figures = dict[str, object]

SMALL, LARGE, HUGE = 1000, 1_000_000, 12_000_000  # bytes of a message
WRITERS = 8
_SMALL_ONES, _LARGE_ONES, _READS = 20, 3, 3


class Backend(Protocol):
    """One backend of a framework, with an empty session."""

    def append(self, number: int, text: str) -> object:
        """Add a message to the session."""

    def read(self) -> int:
        """Read the session as a new process would; how many messages it has."""

    def change_at_once(self, writer: int) -> bool:
        """Change the same thing that other writers change, each by a handle of its own; whether
        the change was acknowledged.
        """

    def count_changes(self) -> int:
        """How many of those changes are there."""


class CountingTransport(httpx.HTTPTransport):
    """Counts requests on their way."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Count a request and send it."""
        self.requests += 1
        return super().handle_request(request)


_serial = count(1)


@contextmanager
def agent_client() -> Iterator[tuple[Client, Callable[[], int]]]:
    """A client of a new agent of the server in the environment, and what counts its requests."""
    with Client() as admin:
        made = admin.principals.create(f"bench-{os.getpid()}-{next(_serial)}")
    transport = CountingTransport()
    with Client(api_key=made.api_key, transport=transport) as client:
        yield client, lambda: transport.requests


def measure(
    name: str,
    make: Callable[[str], Backend],
    count_requests: Callable[[], int] = lambda: 0,
) -> Figures:
    """Measure a backend; times are medians.

    Args:
        make: makes the backend with a new session of this name.
        count_requests: how many requests it has made so far.
    """
    backend = make("figures")
    numbers = count()

    def add(size: int) -> float:
        return time_call(lambda: backend.append(next(numbers), "x" * size))

    began = count_requests()
    small = [add(SMALL) for _ in range(_SMALL_ONES)]
    for_one = (count_requests() - began) / _SMALL_ONES
    large = [add(LARGE) for _ in range(_LARGE_ONES)]
    expected = _SMALL_ONES + _LARGE_ONES
    began = count_requests()
    reads = [time_call(lambda: _assert_read(backend, expected)) for _ in range(_READS)]
    for_read = (count_requests() - began) / _READS
    return {
        "backend": name,
        "add 1 KB": f"{median(small):.1f} ms",
        "add 1 MB": f"{median(large):.0f} ms",
        "read all 23": f"{median(reads):.0f} ms",
        "12 MB": _try_huge(make("huge")),
        "8 at once": _change_at_once(make("at-once")),
        "requests to add, to read": f"{for_one:.0f}, {for_read:.0f}" if for_one else "none",
    }


def time_call(act: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    began = perf_counter()
    act()
    return (perf_counter() - began) * 1000


def _assert_read(backend: Backend, expected: int) -> None:
    found = backend.read()
    assert found == expected, f"{found} messages instead of {expected}"


def _try_huge(backend: Backend) -> str:
    try:
        backend.append(0, "x" * HUGE)
        _assert_read(backend, 1)
    except Exception as refused:  # noqa: BLE001 - what a backend raises is the figure
        return type(refused).__name__
    return "yes"


def _change_at_once(backend: Backend) -> str:
    with ThreadPoolExecutor(WRITERS) as pool:
        acknowledged = sum(pool.map(backend.change_at_once, range(WRITERS)))
    return f"{acknowledged} acknowledged, {backend.count_changes()} kept"


def make_folder(root: Path, name: str) -> Path:
    """Make a folder for the files of a backend."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder

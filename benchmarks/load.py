"""A closed-loop load generator: every client sends its next request when its last is answered.

One thread serves all clients through a selector. Measured against processes and threads on two
cores with 8 clients this cost the least (9 us of CPU a request of 1 KB against 13 and 15; 21 us
an answer of 130 KB), and the servers under test share those cores with it.
"""

import gc
import math
import resource
import selectors
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.connection import Address, AnswerError, Connection

Script = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Result:
    """What one run did. Times in milliseconds where the name says so, else in seconds."""

    requests: int
    seconds: float
    rate: float
    p50_ms: float
    p99_ms: float
    statuses: dict[int, int]
    generator_cpu_us: float


@dataclass(slots=True)
class _Client:
    connection: Connection
    requests: Iterator[bytes]
    sent_at: float = 0.0

    def send_next(self) -> bool:
        request = next(self.requests, None)
        if request is None:
            return False
        self.sent_at = time.perf_counter()
        self.connection.send(request)
        return True


@dataclass(slots=True)
class _Tally:
    expected: int
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def take(self, client: _Client) -> None:
        status = client.connection.receive()
        self.latencies.append(time.perf_counter() - client.sent_at)
        self.statuses[status] += 1
        if status != self.expected:
            raise AnswerError(f"expected {self.expected}, got:\n{client.connection.sample()}")


def run(address: Address, scripts: Sequence[Script], expected: int, seconds: float) -> Result:
    """Send each script on a connection of its own, all at once, for at most `seconds`.

    `scripts`: the rendered requests of each client. Any status but `expected` ends the run.
    Raises `AnswerError` and `OSError`.
    """
    clients = [_Client(Connection(address), iter(script)) for script in scripts]
    tally = _Tally(expected)
    try:
        with _quiet_memory():
            cpu, start = _cpu_seconds(), time.perf_counter()
            _drive(clients, tally, start + seconds)
            elapsed, cpu = time.perf_counter() - start, _cpu_seconds() - cpu
    finally:
        for client in clients:
            client.connection.close()
    return _result(tally, elapsed, cpu)


def _drive(clients: Sequence[_Client], tally: _Tally, deadline: float) -> None:
    with selectors.DefaultSelector() as selector:
        busy = 0
        for client in clients:
            selector.register(client.connection, selectors.EVENT_READ, client)
            busy += client.send_next()
        while busy:
            for key, _ in _ready(selector):
                tally.take(key.data)
                late = time.perf_counter() >= deadline
                if late or not key.data.send_next():
                    busy -= 1


def _ready(selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
    if ready := selector.select(30.0):
        return ready
    raise AnswerError("no client got an answer for 30 seconds")


@contextmanager
def _quiet_memory() -> Iterator[None]:
    """Keep the collector from walking thousands of rendered requests while the clock runs."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _result(tally: _Tally, elapsed: float, cpu: float) -> Result:
    count = len(tally.latencies)
    return Result(
        requests=count,
        seconds=elapsed,
        rate=count / elapsed,
        p50_ms=percentile(tally.latencies, 50) * 1000,
        p99_ms=percentile(tally.latencies, 99) * 1000,
        statuses=dict(tally.statuses),
        generator_cpu_us=cpu / max(count, 1) * 1_000_000,
    )


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile of `values`, which must not be empty."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * percent / 100) - 1, 0)]


def render(
    method: str, target: str, headers: Sequence[tuple[str, str]] = (), body: bytes = b""
) -> bytes:
    """The bytes of one request; `target` is already percent-encoded."""
    lines = [f"{method} {target} HTTP/1.1", "host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body

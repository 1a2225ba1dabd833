"""What a tenant that writes at ten times its share costs another tenant's PATCH, on one server.

A quiet tenant changes an entry at half its share, alone and then beside a flood. Both send at a
fixed rate, whatever the answers take; a request's time begins when it is due. Measured with the
server's default limits, and with the share as the limit of a tenant's requests.
"""

import os
import secrets
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from benchmarks.connection import AnswerError, Connection
from benchmarks.load import percentile, render
from benchmarks.servers import Server, ours
from benchmarks.tables import text_table
from benchmarks.workload import entry, value
from functions.platform.json_text import dumps

SHARE = 20.0  # writes a second of a tenant
FLOOD = 10  # times the share
GOAL = 1.20  # of the time alone
_ROUNDS, _SECONDS = 5, 4.0
_QUIET_CLIENTS, _FLOODING_CLIENTS = 1, 8
_THROTTLED = 429
_MEMORY = "/api/v1/memory"
_DEFAULT = "default"
_LIMITS: dict[str, Mapping[str, str]] = {
    _DEFAULT: {},
    "its share": {"AGENT_MEMORY_TENANT_REQUESTS_PER_MINUTE": str(int(SHARE * 60))},
}


@dataclass(frozen=True, slots=True)
class Fairness:
    """A quiet tenant's PATCH alone and beside a flood: milliseconds, of all rounds.

    Attributes:
        limit: what a tenant may send.
        flooding: writes a second that the flood sent.
        throttled: the share of them that were refused.
        load: the machine's load average of a minute, when it began and when it ended.
    """

    limit: str
    alone_p50: float
    alone_p90: float
    beside_p50: float
    beside_p90: float
    flooding: float
    throttled: float
    load: tuple[float, float]

    @property
    def ratio(self) -> float:
        """How many times as long the median takes beside the flood."""
        return self.beside_p50 / self.alone_p50


@dataclass(slots=True)
class _Client:
    """A connection that sends at a rate; `requests` makes the next one by the status of the last.

    Attributes:
        due: when the next request is to be sent, in seconds of `perf_counter`.
    """

    connection: Connection
    requests: Iterator[bytes]
    seconds: float
    due: float = 0.0
    is_busy: bool = False
    times: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def send(self) -> None:
        self.connection.send(next(self.requests))
        self.is_busy = True

    def receive(self, now: float) -> None:
        self.statuses.append(self.connection.receive())
        self.times.append(now - self.due)
        self.due += self.seconds
        self.is_busy = False


def measure() -> list[Fairness]:
    """Measure with each limit, on a server of its own. Raises `ServerError`, `AnswerError`."""
    return [_measure(name, limit) for name, limit in _LIMITS.items()]


def _measure(name: str, limit: Mapping[str, str]) -> Fairness:
    began, root_key = os.getloadavg()[0], secrets.token_urlsafe(24)
    settings = {"AGENT_MEMORY_ROOT_KEY": root_key, **limit}
    with TemporaryDirectory() as folder, patch.dict(os.environ, settings):  # noqa: SIM117
        with ours(Path(folder)) as server:
            keys = [_make_tenant(server, root_key, each) for each in ("quiet", "loud")]
            with _connected(server, *keys) as (quiet, flood):
                return _compare(name, quiet, flood, began)


def _make_tenant(server: Server, root_key: str, name: str) -> str:
    made = server.call("POST", "/api/v1/tenants", root_key, {"id": name})
    return str(made["admin"]["api_key"])


@contextmanager
def _connected(
    server: Server, quiet_key: str, flooding_key: str
) -> Iterator[tuple[list[_Client], list[_Client]]]:
    """Connect the clients of both tenants."""
    made = server.call("POST", _MEMORY, quiet_key, entry("admin", "quiet", "working", ()))
    patches = _patches(quiet_key, f"{_MEMORY}/{made['id']}")
    quiet = [_Client(Connection(server.address), patches, 2 / SHARE)]
    pace = _FLOODING_CLIENTS / (SHARE * FLOOD)
    flood = [
        _Client(Connection(server.address), _puts(flooding_key, number), pace)
        for number in range(_FLOODING_CLIENTS)
    ]
    try:
        yield quiet, flood
    finally:
        for client in (*quiet, *flood):
            client.connection.close()


def _patches(key: str, target: str) -> Iterator[bytes]:
    """One entry, changed again and again: nobody else changes it."""
    for version in count(1):
        headers = [("x-api-key", key), ("if-match", str(version))]
        yield render("PATCH", target, headers, dumps({"value": value(version)}))


def _puts(key: str, number: int) -> Iterator[bytes]:
    """An entry of the flood's, written again and again, refused or not."""
    headers = [("x-api-key", key)]
    for turn in count():
        body = entry("admin", f"loud-{number}", "working", ()) | {"value": value(turn)}
        yield render("PUT", _MEMORY, headers, dumps(body))


def _compare(
    limit: str, quiet: Sequence[_Client], flood: Sequence[_Client], began: float
) -> Fairness:
    alone: list[float] = []
    beside: list[float] = []
    if limit != _DEFAULT:  # the flood sends first what each process allows at once, for a minute
        while not any(_THROTTLED in client.statuses for client in flood):
            _drive([*quiet, *flood], 1.0)
        _drive([*quiet, *flood], 2.0)
    for client in flood:
        client.statuses.clear()
    for _ in range(_ROUNDS):
        alone += _drive(quiet, _SECONDS)
        beside += _drive([*quiet, *flood], _SECONDS, of=quiet)
    if {status for client in quiet for status in client.statuses} != {200}:
        raise AnswerError(f"the quiet tenant was refused: {quiet[0].connection.sample()}")
    statuses = [status for client in flood for status in client.statuses]
    return Fairness(
        limit,
        alone_p50=percentile(alone, 50) * 1000,
        alone_p90=percentile(alone, 90) * 1000,
        beside_p50=percentile(beside, 50) * 1000,
        beside_p90=percentile(beside, 90) * 1000,
        flooding=len(statuses) / (_ROUNDS * _SECONDS),
        throttled=statuses.count(_THROTTLED) / len(statuses),
        load=(began, os.getloadavg()[0]),
    )


def _drive(
    clients: Sequence[_Client], seconds: float, of: Sequence[_Client] | None = None
) -> list[float]:
    """Send for some seconds; the times, in seconds, of the requests of some of the clients."""
    start = time.perf_counter()
    for number, client in enumerate(clients):
        client.times.clear()
        client.due = start + client.seconds * number / len(clients)
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.connection, selectors.EVENT_READ, client)
        while _is_busy(clients, start + seconds):
            for key, _ in selector.select(_send_due(clients, start + seconds)):
                key.data.receive(time.perf_counter())
    return [each for client in of or clients for each in client.times]


def _is_busy(clients: Sequence[_Client], end: float) -> bool:
    return time.perf_counter() < end or any(client.is_busy for client in clients)


def _send_due(clients: Sequence[_Client], end: float) -> float:
    """Send what is due; the seconds until something else is, at most 0.05."""
    wait = 0.05
    for client in clients:
        if client.is_busy or client.due >= end:
            continue
        left = client.due - time.perf_counter()
        if left <= 0:
            client.send()
        else:
            wait = min(wait, left)
    return wait


def as_data(found: Sequence[Fairness]) -> list[dict[str, object]]:
    """All figures."""
    return [asdict(each) | {"ratio": round(each.ratio, 2)} for each in found]


def as_text(found: Sequence[Fairness]) -> str:
    """The table, a line for each limit."""
    heads = ["limit of a tenant", "PATCH alone: p50, p90 ms", "beside a flood", "ratio"]
    heads += ["flood, writes/s", "refused", "load average"]
    rows = [
        [
            each.limit,
            f"{each.alone_p50:.1f}, {each.alone_p90:.1f}",
            f"{each.beside_p50:.1f}, {each.beside_p90:.1f}",
            f"{each.ratio:.2f}",
            f"{each.flooding:.0f}",
            f"{each.throttled:.0%}",
            "{:.1f} to {:.1f}".format(*each.load),
        ]
        for each in found
    ]
    return text_table(heads, rows)

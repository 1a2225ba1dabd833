"""Requests per second of this service's local server beside the published reference server."""

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import servers
from benchmarks.cpu import tree_seconds
from benchmarks.load import Result, Script, run
from benchmarks.tables import text_table
from benchmarks.workload import CASES, MATCHES, Case, Fixture, prepare

CLIENTS = (1, 8)
GOALS = {"create": 1.5, "get": 1.5, "patch": 1.5, "list of 100": 1.0}
"""Times the reference's rate, at the larger number of clients."""
Round = tuple[Result, float]  # and the server's CPU milliseconds a request
_MOST_REQUESTS = 6000  # in one run, however fast the server


@dataclass(frozen=True, slots=True)
class Figures:
    """The median of the rounds."""

    rate: float
    p50_ms: float
    p99_ms: float
    server_cpu_ms: float
    generator_cpu_us: float
    rounds: list[float]


@dataclass(frozen=True, slots=True)
class Row:
    """One operation at one number of clients on both servers."""

    case: str
    clients: int
    ours: Figures
    reference: Figures

    @property
    def ratio(self) -> float:
        return self.ours.rate / self.reference.rate

    @property
    def goal(self) -> float | None:
        return GOALS.get(self.case) if self.clients == max(CLIENTS) else None


def compare(bench: Path, rounds: int, seconds: float) -> list[Row]:
    """Measure every case on both servers in turn: A B A B.

    `bench`: a folder for the reference's environment and for the data, which is removed.
    Raises `ServerError`, `AnswerError`.
    """
    servers.prepare(bench)
    with _both(bench) as fixtures:
        return [
            _row(case, clients, fixtures, rounds, seconds) for case in CASES for clients in CLIENTS
        ]


@contextmanager
def _both(bench: Path) -> Iterator[tuple[Fixture, Fixture]]:
    with (
        TemporaryDirectory(dir=bench) as data,
        servers.reference(Path(data), bench / "reference") as theirs,
        servers.ours(Path(data)) as ours,
    ):
        yield prepare(ours), prepare(theirs)


def _row(
    case: Case, clients: int, fixtures: tuple[Fixture, Fixture], rounds: int, seconds: float
) -> Row:
    measured: tuple[list[Round], list[Round]] = ([], [])
    for number in range(rounds):
        for fixture, results in zip(fixtures, measured, strict=True):
            scripts = case.scripts(fixture, clients, _MOST_REQUESTS, f"{clients}-{number}")
            results.append(_round(fixture, scripts, case.expected(fixture), seconds))
    return Row(case.name, clients, _figures(measured[0]), _figures(measured[1]))


def _round(fixture: Fixture, scripts: Sequence[Script], expected: int, seconds: float) -> Round:
    before = tree_seconds(fixture.server.process)
    result = run(fixture.server.address, scripts, expected, seconds)
    used = tree_seconds(fixture.server.process) - before
    return result, used / result.requests * 1000


def _figures(rounds: Sequence[Round]) -> Figures:
    results = [result for result, _ in rounds]
    return Figures(
        rate=median(each.rate for each in results),
        p50_ms=median(each.p50_ms for each in results),
        p99_ms=median(each.p99_ms for each in results),
        server_cpu_ms=median(cpu for _, cpu in rounds),
        generator_cpu_us=median(each.generator_cpu_us for each in results),
        rounds=[round(each.rate, 1) for each in results],
    )


def as_data(rows: Sequence[Row]) -> dict[str, object]:
    """All figures, and where they were taken."""
    return {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "reference": servers.REFERENCE,
        "rows": [asdict(row) | {"ratio": round(row.ratio, 2)} for row in rows],
    }


def as_text(rows: Sequence[Row]) -> str:
    """The table that `make bench` prints."""
    heads = ["operation", "clients", "ours/s", "reference/s", "ratio", "goal"]
    heads += ["ours p50 ms", "p99", "reference p50 ms", "p99"]
    heads += ["ours CPU ms", "reference CPU ms"]
    dearest = max(row.ours.generator_cpu_us for row in rows)
    notes = [
        "Medians of interleaved rounds, A B A B; CPU: all of a server's processes, a request.",
        f"Reference: {servers.REFERENCE} on SQLite, one worker, without its access log.",
        f"Two tags: {MATCHES} of 100 entries match; the reference ignores the filter, answers all.",
        f"The generator shares the cores: up to {dearest:.0f} us of CPU a request of ours.",
    ]
    return "\n".join([text_table(heads, [_cells(row) for row in rows]), *notes])


def _cells(row: Row) -> list[str]:
    times = (row.ours.p50_ms, row.ours.p99_ms, row.reference.p50_ms, row.reference.p99_ms)
    costs = (row.ours.server_cpu_ms, row.reference.server_cpu_ms)
    return [
        row.case,
        str(row.clients),
        f"{row.ours.rate:.0f}",
        f"{row.reference.rate:.0f}",
        f"{row.ratio:.2f}",
        _verdict(row),
        *(f"{each:.2f}" for each in (*times, *costs)),
    ]


def _verdict(row: Row) -> str:
    if row.goal is None:
        return ""
    return f">= {row.goal:g} {'met' if row.ratio >= row.goal else 'MISSED'}"

"""Measure whether values that a reader could fail at delay the events of another tenant.

A local server runs in another process. One tenant writes as fast as the API accepts it, first
harmless values and then poison of the same size, twice in turn. At the same time, an agent of
another tenant writes an entry each half second and waits for its event.
"""

import itertools
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import httpx

from benchmarks.server import PATIENCE, new_agent, serve
from benchmarks.tables import text_table

_WRITERS, _PROBES, _BETWEEN = 2, 24, 0.5  # threads; probes of a phase; seconds between them
_MEMORY = "/api/v1/memory"
_POISON: tuple[Any, ...] = (
    {"n": int("9" * 308)},
    {"n": [-int("9" * 308)] * 20},
    {"n": 1.7976931348623157e308, "m": 5e-324},
    {"s": "\0\u2028\u202e\ufeff" * 200},
    {"__proto__": {"constructor": "x"}},
    {"v": "x" * 60_000},
)
_HARMLESS: tuple[Any, ...] = (
    {"n": "9" * 308},
    {"n": ["9" * 308] * 20},
    {"n": "1.7976931348623157e308", "m": "5e-324"},
    {"s": "abcdefgh" * 200},
    {"proto": {"constructor": "x"}},
    {"v": "y" * 60_000},
)


@dataclass
class Phase:
    """The writes of a phase, and how long the other tenant's events took (seconds)."""

    kind: str
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    delays: list[float] = field(default_factory=list)
    missing: int = 0


def measure() -> list[Phase]:
    """Measure harmless values and poison, twice in turn."""
    with serve() as address:
        mallory, honest = new_agent(address, "mallory"), new_agent(address, "honest")
        _probe(honest, "warm", Phase("warm"))
        kinds = [("harmless values", _HARMLESS), ("poison", _POISON)] * 2
        return [_measure(kind, values, mallory, honest) for kind, values in kinds]


def _measure(
    kind: str, values: Sequence[Any], mallory: httpx.Client, honest: httpx.Client
) -> Phase:
    phase, ended, begun = Phase(kind), threading.Event(), time.monotonic()
    with ThreadPoolExecutor(_WRITERS) as pool:
        for number in range(_WRITERS):
            pool.submit(_write, mallory, values, f"{id(phase)}-{number}", phase, ended)
        try:
            for number in range(_PROBES):
                _probe(honest, f"{id(phase)}-{number}", phase)
        finally:
            ended.set()
    phase.seconds = time.monotonic() - begun
    return phase


def _write(
    client: httpx.Client, values: Sequence[Any], name: str, phase: Phase, ended: threading.Event
) -> None:
    for number in itertools.takewhile(lambda _: not ended.is_set(), itertools.count()):
        body = _entry(f"{name}-{number % 500}", values[number % len(values)])
        is_accepted = client.put(_MEMORY, json=body).is_success
        phase.accepted += is_accepted
        phase.refused += not is_accepted


def _probe(client: httpx.Client, key: str, phase: Phase) -> None:
    """Write an entry, wait for its event, and for the time of the next probe."""
    begun = time.monotonic()
    client.post(_MEMORY, json=_entry(key, {"n": 1})).raise_for_status()
    while (waited := time.monotonic() - begun) < PATIENCE:
        page = client.get("/api/v1/agents/agent/events", params={"order": "desc", "limit": 5})
        if any(each["data"].get("key") == key for each in page.json()["events"]):
            phase.delays.append(waited)
            time.sleep(max(_BETWEEN - waited, 0))
            return
        time.sleep(0.02)
    phase.missing += 1


def _entry(key: str, value: Any) -> dict[str, Any]:
    return {"namespace": "poison", "key": key, "memory_type": "episodic", "value": value}


def as_text(phases: Sequence[Phase]) -> str:
    """Render the phases as a table."""
    heads = ("written", "a second", "refused", "events", "missing", "median s", "longest s")
    rows = [
        (
            each.kind,
            f"{each.accepted / each.seconds:,.0f}",
            str(each.refused),
            str(len(each.delays)),
            str(each.missing),
            f"{median(each.delays):.2f}",
            f"{max(each.delays):.2f}",
        )
        for each in phases
    ]
    return text_table(heads, rows)

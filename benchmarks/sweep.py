"""How fast one sweep removes expired entries, each of another agent: the slowest case.

Every call to DynamoDB is made slower by 5 ms, as over a network. The engine runs beside the sweep
on the same cores, so a rate here is a lower bound.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any
from unittest.mock import patch

from benchmarks.inprocess import function
from benchmarks.tables import text_table
from functions.container import Container
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.entries.tiers import EPISODIC
from functions.platform.clock import now_ms
from functions.platform.keys import create_nonce
from functions.platform.settings import ScheduleSettings
from functions.platform.table import Table
from functions.platform.writes import put
from functions.schedule.handler import build_handler

GOAL = 300.0  # a second, of one part of the schedule
EXPIRIES = 10**6 / 3600  # a second, of a million agents with one an hour each
_AGENTS = 2_000
_LATENCY = 0.005  # seconds
_BEFORE = "before-call.dynamodb"


@dataclass(frozen=True, slots=True)
class Rate:
    """What one sweep did: entries removed, and seconds; `threads` took turns in parallel."""

    threads: int
    removed: int
    seconds: float

    @property
    def rate(self) -> float:
        """Entries a second."""
        return self.removed / self.seconds


def measure(agents: int = _AGENTS) -> list[Rate]:
    """Sweep expired entries of so many agents, with one thread and with the default of threads."""
    found = []
    with function() as running:
        client = running.client
        for threads in (1, ScheduleSettings.sweep_threads):
            _seed(Table(client, "memory"), agents // 8 if threads == 1 else agents)
            settings = ScheduleSettings(
                memory_table="memory",
                log_table="log",
                encryption_key_id="unused",  # nothing that expires here has a seal
                sweep_threads=threads,
            )
            with patch("functions.common_services.create_client", return_value=client):
                sweep = build_handler(Container(settings))
            with _slow(client):
                began = time.perf_counter()
                swept = sweep({}, None)
            found.append(Rate(threads, swept["expired"], time.perf_counter() - began))
    return found


def _seed(table: Table, agents: int) -> None:
    now = now_ms()
    mapper = EntryMapper(None)
    entries = [_build_expired(f"agent-{number}", now) for number in range(agents)]
    table.write_many([put(each.item_key, mapper.to_item(each)) for each in entries])


def _build_expired(agent: str, now: int) -> Entry:
    value = b'{"step":1}'
    return Entry(
        address=EPISODIC.build_address("bench", agent, "notes", "k"),
        nonce=create_nonce(now),
        memory_type=EPISODIC.name,
        agent_id=agent,
        namespace="notes",
        key="k",
        value=value,
        value_bytes=len(value),
        version=1,
        created_at=now - 2,
        updated_at=now - 2,
        created_by=agent,
        expires_at=now - 1,
    )


@contextmanager
def _slow(client: Any) -> Iterator[None]:
    """Make every call of a client slower."""

    def wait(**_event: Any) -> None:
        time.sleep(_LATENCY)

    client.meta.events.register_last(_BEFORE, wait)
    try:
        yield
    finally:
        client.meta.events.unregister(_BEFORE, wait)


def as_data(found: list[Rate]) -> list[dict[str, object]]:
    """All figures."""
    return [asdict(each) | {"rate": each.rate} for each in found]


def as_text(found: list[Rate]) -> str:
    """The table."""
    rows = [
        [f"{each.threads}", f"{each.removed:,}", f"{each.seconds:.1f}", f"{each.rate:.0f}"]
        for each in found
    ]
    table = text_table(["threads", "entries removed", "seconds", "a second"], rows)
    needed = f"A million agents with an expiry an hour each make {EXPIRIES:.0f} a second."
    return "\n".join([table, needed])

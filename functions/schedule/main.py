"""The scheduled function's entry point."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from functions.platform.start import starting

with starting():
    from functions.conversations.items import ConversationItems
    from functions.conversations.remains import Remains
    from functions.conversations.retention import Retention
    from functions.conversations.store import ConversationStore
    from functions.entries.archival import Archival
    from functions.entries.items import EntryItems
    from functions.entries.proof import Proof
    from functions.entries.snapshots import SnapshotStore
    from functions.entries.store import EntryStore
    from functions.entries.surplus import Surplus
    from functions.entries.writer import EntryWriter
    from functions.event_log.store import LogStore
    from functions.facts.renewal import Renewal
    from functions.openwop.upkeep import Upkeep
    from functions.platform.aws import client
    from functions.platform.clock import Clock, now_ms
    from functions.platform.cold import cold_storage
    from functions.platform.metrics import report_ms
    from functions.platform.observability import logger
    from functions.platform.settings import MaintenanceSettings
    from functions.platform.table import Table
    from functions.platform.values import Values
    from functions.schedule.agents import Agents
    from functions.schedule.due import Due
    from functions.schedule.expired import Expired
    from functions.schedule.reembedding import Reembedding
    from functions.schedule.sweep import Sweep, TimeLeft
    from functions.search.upkeep import Upkeep as Vectors
    from functions.tasks.store import TaskStore
    from functions.vectors.choice import made_by, meanings_of
    from functions.vectors.store import VectorStore

Handler = Callable[[dict[str, Any], object], dict[str, Any]]

_SWEEP_SECONDS = 50.0  # where nobody says how long it may take
_MARGIN = 10_000  # ms kept for what is under way, at the store's slowest


def build(settings: MaintenanceSettings, clock: Clock = now_ms) -> Handler:
    """The sweep on the tables that the settings name, as a function from event to counts."""
    dynamodb = client("dynamodb")
    table = Table(dynamodb, settings.memory_table)
    logs = LogStore(Table(dynamodb, settings.log_table))
    items = EntryItems(None)
    store = EntryStore(table, items)
    writer = EntryWriter(table, items, store)
    agents = Agents(table, Surplus(table, items, store, clock), Proof(table), clock)
    expired = Expired(writer, items, clock)
    archival = Archival(store, writer, SnapshotStore(table), TaskStore(table), logs, clock)
    said = ConversationItems(Values(None))
    remains = Remains(table, ConversationStore(table, said))
    retention = Retention(table, said, remains, cold_storage(settings), clock)
    sweep = Sweep(
        Due(table),
        expired,
        agents,
        archival,
        retention,
        remains,
        Upkeep(table, clock),
        _reembedding(settings, table, items, clock),
        clock,
        settings.sweep_threads,
    )

    def handle(_event: dict[str, Any], context: object) -> dict[str, Any]:
        swept = sweep.run(_time_left(context))
        done = {"lag_ms": swept.lag, **swept.counts}
        if swept.counts:
            logger.info("swept", extra=done)
        return done

    return handle


def _reembedding(
    settings: MaintenanceSettings, table: Table, items: EntryItems, clock: Clock
) -> Reembedding:
    meanings = meanings_of(settings, table, clock)
    entries = Vectors(VectorStore(table, clock, meanings.form), meanings.embed)
    facts = Renewal(table, meanings, clock)
    return Reembedding(table, items, entries, facts, clock, made_by(settings, meanings))


def _time_left(context: object) -> TimeLeft:
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    if remaining is not None:
        return lambda: remaining() > _MARGIN
    deadline = time.monotonic() + _SWEEP_SECONDS
    return lambda: time.monotonic() < deadline


@cache
def _sweep() -> Handler:
    with starting():
        return build(MaintenanceSettings.from_env())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Sweeps once. The event says only that it is time (EventBridge Scheduler)."""
    done = _sweep()(event, context)
    report_ms("SweepLag", done["lag_ms"], context.function_name)
    return done

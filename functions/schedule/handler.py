"""The scheduled function: sweeps once at each event of EventBridge Scheduler."""

import time
from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform.observability import logger, report_ms
from functions.schedule.agents import Agents
from functions.schedule.due import Due
from functions.schedule.expired import Expired
from functions.schedule.reembedding import Reembedding
from functions.schedule.sweep import Sweep, TimeLeft
from functions.vectors.factory import format_name

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_SWEEP_SECONDS = 50.0  # where nobody says how long it may take
_MARGIN = 10_000  # ms kept for what is under way, at the store's slowest


def build_handler(container: Container) -> Handler:
    """Build the scheduled function, from event to counts."""
    sweep = _build_sweep(container)

    def handle(_event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        swept = sweep.run(_time_left(context))
        done = {"lag_ms": swept.lag, **swept.counts}
        if swept.counts:
            logger.info("swept", extra=done)
        function_name = getattr(context, "function_name", None)
        if function_name is not None:
            report_ms("SweepLag", swept.lag, function_name)
        return done

    return handle


def _build_sweep(container: Container) -> Sweep:
    table, clock = container.table, container.clock
    return Sweep(
        Due(table),
        Expired(container.entry_writer, container.entry_mapper, clock),
        Agents(table, container.agent_memory, clock),
        container.task_archive,
        container.conversation_archive,
        container.orphaned_messages,
        container.memory_garbage_collector,
        Reembedding(
            table,
            container.entry_mapper,
            container.embedding_indexer,
            container.facts,
            clock,
            format_name(container.settings, container.vector_search),
        ),
        clock,
        container.settings.sweep_threads,
    )


def _time_left(context: object) -> TimeLeft:
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    if remaining is not None:
        return lambda: remaining() > _MARGIN
    deadline = time.monotonic() + _SWEEP_SECONDS
    return lambda: time.monotonic() < deadline

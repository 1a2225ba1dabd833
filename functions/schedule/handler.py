"""The scheduled function: a sweep at each event of EventBridge Scheduler."""

import time
from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform.observability import logger, report_ms
from functions.schedule.jobs import HasTime, build_jobs
from functions.schedule.sweep import Sweep

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_DEFAULT_SECONDS = 50.0  # of a sweep without a Lambda context
_MARGIN = 10_000  # ms, in which the last job ends, at the table's slowest


def build_handler(container: Container) -> Handler:
    """Build the scheduled function, which gives the counts of its sweep."""
    sweep = _build_sweep(container)

    def handle(_event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        result = sweep.run(_limit_time(context))
        summary = {"lag_ms": result.lag, **result.counts}
        if result.counts:
            logger.info("swept", extra=summary)
        function_name = getattr(context, "function_name", None)
        if function_name is not None:
            report_ms("SweepLag", result.lag, function_name)
        return summary

    return handle


def _build_sweep(container: Container) -> Sweep:
    return Sweep(
        container.due_index,
        container.expired_entries,
        build_jobs(container),
        container.reembedding.start_if_needed,
        container.clock,
        container.settings.sweep_threads,
    )


def _limit_time(context: object) -> HasTime:
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    if remaining is not None:
        return lambda: remaining() > _MARGIN
    deadline = time.monotonic() + _DEFAULT_SECONDS
    return lambda: time.monotonic() < deadline

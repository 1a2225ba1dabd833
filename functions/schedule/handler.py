"""The scheduled function: a sweep at each event of EventBridge Scheduler."""

from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform.clock import HasTime, limit_time
from functions.platform.observability import logger, report_ms
from functions.schedule.jobs import build_jobs
from functions.schedule.sweep import SchedulePart, Sweep, SweepResult

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_DEFAULT_MS = 50_000  # of a sweep without a Lambda context
_MARGIN = 10_000  # ms, in which the last job ends, at the table's slowest


def build_handler(container: Container) -> Handler:
    """Build the scheduled function, which gives the counts of its sweep.

    While nothing is to be written, it does nothing.

    An event that names a part, such as `{"part": 0, "parts": 4}`, sweeps that part of what is due.
    Any other event sweeps all of it.
    """
    sweep = _build_sweep(container)
    is_read_only = container.settings.is_read_only

    def handle(event: dict[str, Any], context: Any = None) -> dict[str, Any]:
        if is_read_only:
            report_ms("SweepLag", 0)  # it runs, and nothing is late on purpose
            return {"read_only": 1}
        part = SchedulePart(event.get("part", 0), event.get("parts", 1))
        return _report(sweep.run(_limit_time(context), part))

    return handle


def _report(result: SweepResult) -> dict[str, Any]:
    """Log what a sweep did and how late it was, and return both."""
    summary = {"lag_ms": result.lag, **result.counts}
    if result.counts:
        logger.info("swept", extra=summary)
    report_ms("SweepLag", result.lag)
    return summary


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
    return limit_time(_DEFAULT_MS / 1000)

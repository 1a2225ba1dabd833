"""The id and the trace of the request at work, for logs, audit records and what it writes.

A function serves one request at a time in each thread; `functions.platform.parallel` hands them on
to the threads of its calls.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
throttles: ContextVar[list[str] | None] = ContextVar("throttles", default=None)
"""The codes with which the store throttled calls of the request at work, in all threads."""


def allow_writes(_table: Any, _writes: Any) -> None:
    """Refuse nothing."""


write_guard: ContextVar[Callable[[Any, Any], None]] = ContextVar(
    "write_guard", default=allow_writes
)
"""Called with a table and the writes of each call that writes; raises what refuses them."""
units: ContextVar[list[tuple[str, Any]] | None] = ContextVar("units", default=None)
"""The units that the calls of this request consumed: `read_halves` or `write_halves`, and
DynamoDB's figures.
"""
inspections: ContextVar[list[None] | None] = ContextVar("inspections", default=None)
"""An element for each decision of the request at work that `memory.inspect` alone permitted."""


def note_inspection() -> None:
    """Note that the request at work reads what only `memory.inspect` lets its caller read."""
    found = inspections.get()
    if found is not None:
        found.append(None)

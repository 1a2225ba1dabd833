"""The id and the trace of the present request, for logs, audit records and its writes.

Each thread serves one request at a time; `functions.platform.parallel` copies the context to the
threads of its calls.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
throttles: ContextVar[list[str] | None] = ContextVar("throttles", default=None)
"""The codes of throttled calls of the present request, in all threads."""


def allow_writes(_table: Any, _writes: Any) -> None:
    """Permit all writes."""


write_guard: ContextVar[Callable[[Any, Any], None]] = ContextVar(
    "write_guard", default=allow_writes
)
"""Called with the table and the writes of each call; raises an error to reject them."""
units: ContextVar[list[tuple[str, Any]] | None] = ContextVar("units", default=None)
"""The units that the request consumed: `read_halves` or `write_halves`, and DynamoDB's figures."""
inspections: ContextVar[list[None] | None] = ContextVar("inspections", default=None)
"""An element for each decision of the request that only `memory.inspect` permitted."""


def note_inspection() -> None:
    """Record that the request reads something that only `memory.inspect` permits."""
    found = inspections.get()
    if found is not None:
        found.append(None)

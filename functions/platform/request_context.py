"""The id and the trace of the request at work, for logs, audit records and what it writes.

A function serves one request at a time in each thread; `functions.platform.parallel` hands them on
to the threads of its calls.
"""

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
throttles: ContextVar[list[str] | None] = ContextVar("throttles", default=None)
"""The codes with which the store throttled calls of the request at work, in all threads."""


def note_throttle(code: str) -> None:
    """Note that the store throttled an attempt at a call of the request at work."""
    found = throttles.get()
    if found is not None:
        found.append(code)

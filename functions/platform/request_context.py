"""The id and the trace of the request at work, for logs, audit records and what it writes.

A function serves one request at a time in each thread; `functions.platform.parallel` hands them on
to the threads of its calls.
"""

import re
from collections.abc import Mapping
from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)

throttles: ContextVar[list[str] | None] = ContextVar("throttles", default=None)
"""The codes with which the store throttled calls of the request at work, in all threads."""
_TRACEPARENT = re.compile(r"(?!ff)[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}", re.ASCII)


def set_request(id: str, headers: Mapping[str, str]) -> None:
    """Set the request at work; a malformed `traceparent` (W3C Trace Context) counts as none."""
    request_id.set(id)
    given = headers.get("traceparent", "")
    traceparent.set(given if _TRACEPARENT.fullmatch(given) else None)
    throttles.set([])


def note_throttle(code: str) -> None:
    """Note that the store throttled an attempt at a call of the request at work."""
    found = throttles.get()
    if found is not None:
        found.append(code)


def get_trace_id(trace: str | None) -> str | None:
    """Return the id of the trace that a `traceparent` belongs to."""
    return None if trace is None else trace.split("-")[1]

"""The id of the request at work, for logs and audit records.

A function serves one request at a time in each thread; work on threads of its own inherits it only
where it is copied.
"""

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

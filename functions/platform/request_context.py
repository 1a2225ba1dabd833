"""The id of the request at work, for logs and audit records.

A function serves one request at a time in each thread; `functions.platform.parallel` hands it on to
the threads of its calls.
"""

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

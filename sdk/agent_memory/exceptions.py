"""What can go wrong with a call (RFC-0015 "Error Handling")."""

from collections.abc import Mapping
from typing import Any

from agent_memory.model import Entry


class AgentMemoryError(Exception):
    """Base of all errors of this package.

    Attributes:
        status: the HTTP status; None if no answer came.
        code: the service's code, such as `VERSION_MISMATCH`; None if it gave none.
        request_id: names the request in the service's logs; None if no answer came.
        problem: the problem document (RFC 9457); empty if there is none.
        may_have_happened: whether an earlier attempt of this very call may have been carried out
            although its answer never came.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        problem: Mapping[str, Any] | None = None,
        may_have_happened: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.problem: Mapping[str, Any] = problem or {}
        self.may_have_happened = may_have_happened


class MemoryConflictError(AgentMemoryError):
    """Something else is there: `VERSION_MISMATCH` or `ENTRY_EXISTS` (409)."""

    @property
    def current_version(self) -> int | None:
        """The version that is there."""
        version = self.problem.get("current_version")
        return version if isinstance(version, int) else None

    @property
    def current(self) -> Entry | None:
        """The entry that is there, if it is one and the caller may read it."""
        current = self.problem.get("current")
        return (
            Entry.from_document(current)
            if isinstance(current, dict) and "memory_type" in current
            else None
        )

    @property
    def current_value(self) -> dict[str, Any] | None:
        """The value of the entry that is there."""
        return None if self.current is None else self.current.value


class IdempotencyConflictError(AgentMemoryError):
    """The Idempotency-Key came before with another body (409)."""


class RunClosedError(AgentMemoryError):
    """The run was completed or has failed (409 `RUN_CLOSED`)."""


class TaskClosedError(AgentMemoryError):
    """The task has ended (409 `TASK_CLOSED`)."""


class TaskReassignedError(AgentMemoryError):
    """The task is another agent's by now: writes of its former assignee don't count (409)."""


class MemoryCapacityError(AgentMemoryError):
    """A limit is reached (429 `CAPACITY_EXCEEDED`), or the tenant's (429 `QUOTA_EXCEEDED`)."""

    @property
    def limit(self) -> str | None:
        """Which limit."""
        return self.problem.get("limit")

    @property
    def current_count(self) -> int | None:
        """How much there is."""
        return self.problem.get("current_count")

    @property
    def max_capacity(self) -> int | None:
        """How much there may be."""
        return self.problem.get("max_capacity")


class MemoryAccessError(AgentMemoryError):
    """The principal may not do this (403)."""


class ConversationNotOwned(MemoryAccessError):
    """The conversation is another's: use another session id, or join it.

    409, or 403 if you have no part in it.
    """


class MemoryNotFoundError(AgentMemoryError):
    """There is no such thing (404)."""


class AuthenticationError(AgentMemoryError):
    """The API key is no good (401)."""


class ValidationError(AgentMemoryError):
    """The request is malformed (400)."""

    @property
    def errors(self) -> list[dict[str, Any]]:
        """`field` and `message` of each problem."""
        return list(self.problem.get("errors", ()))


class TooLargeError(AgentMemoryError):
    """The value, batch or body is too large (413)."""


class ThrottledError(AgentMemoryError):
    """The service asks to slow down (429 `THROTTLED`), retry after retry."""


class ServiceUnavailableError(AgentMemoryError):
    """The service, or what is before it, failed (5xx), retry after retry."""


class ConnectionFailedError(AgentMemoryError):
    """No answer came, retry after retry. `may_have_happened` says whether the request got out."""


class InvalidAnswerError(AgentMemoryError):
    """What answered isn't the service: no JSON, or not of its shape."""


class ClientClosedError(AgentMemoryError):
    """The client is closed; make another one."""


class TaskLostError(BaseException):
    """The task isn't this worker's any more.

    It has ended, was assigned to another agent, went to another process of this agent, or the
    worker releases it. Raised by the calls on memory in a worker's function. Let it pass: no
    `except Exception` stops it, the worker reports nothing, and what was saved is there for the
    successor (RFC-0015 §8).
    """

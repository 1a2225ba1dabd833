"""The exceptions of calls (RFC-0015 "Error Handling")."""

from collections.abc import Mapping
from typing import Any

from agent_memory.model import Entry


class AgentMemoryError(Exception):
    """Base of all errors of this package.

    Attributes:
        status: the HTTP status; None without an answer.
        code: the service's code, such as `VERSION_MISMATCH`; None if there is none.
        request_id: names the request in the service's logs; None without an answer.
        problem: the problem document (RFC 9457); empty if there is none.
        may_have_happened: True if an earlier attempt of this call may have taken effect, although
            its answer was lost.
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
    """The present state differs: `VERSION_MISMATCH` or `ENTRY_EXISTS` (409)."""

    @property
    def current_version(self) -> int | None:
        """The present version."""
        version = self.problem.get("current_version")
        return version if isinstance(version, int) else None

    @property
    def current(self) -> Entry | None:
        """The present entry, if the caller may read it."""
        current = self.problem.get("current")
        return (
            Entry.from_document(current)
            if isinstance(current, dict) and "memory_type" in current
            else None
        )

    @property
    def current_value(self) -> dict[str, Any] | None:
        """The value of the present entry."""
        return None if self.current is None else self.current.value


class IdempotencyConflictError(AgentMemoryError):
    """The Idempotency-Key was used with another body (409)."""


class RunClosedError(AgentMemoryError):
    """The run was completed or has failed (409 `RUN_CLOSED`)."""


class TaskClosedError(AgentMemoryError):
    """The task has ended (409 `TASK_CLOSED`)."""


class TaskReassignedError(AgentMemoryError):
    """The task was reassigned; its former assignee can't write in it (409)."""


class MemoryCapacityError(AgentMemoryError):
    """A limit (429 `CAPACITY_EXCEEDED`) or a tenant's limit (429 `QUOTA_EXCEEDED`) is reached."""

    @property
    def limit(self) -> str | None:
        """The name of the limit."""
        return self.problem.get("limit")

    @property
    def current_count(self) -> int | None:
        """The present number or size."""
        return self.problem.get("current_count")

    @property
    def max_capacity(self) -> int | None:
        """The limit."""
        return self.problem.get("max_capacity")


class MemoryAccessError(AgentMemoryError):
    """The principal may not do this (403)."""


class ConversationNotOwned(MemoryAccessError):
    """The conversation belongs to another principal: use another session id, or join it.

    409, or 403 if you don't take part in it.
    """


class MemoryNotFoundError(AgentMemoryError):
    """The resource does not exist (404)."""


class AuthenticationError(AgentMemoryError):
    """The API key is invalid (401)."""


class ValidationError(AgentMemoryError):
    """The request is malformed (400)."""

    @property
    def errors(self) -> list[dict[str, Any]]:
        """`field` and `message` of each problem."""
        return list(self.problem.get("errors", ()))


class TooLargeError(AgentMemoryError):
    """The value, batch or body is too large (413)."""


class ThrottledError(AgentMemoryError):
    """The service throttles this client, even after retries (429 `THROTTLED`)."""


class ServiceUnavailableError(AgentMemoryError):
    """The service or its gateway failed, even after retries (5xx)."""


class ConnectionFailedError(AgentMemoryError):
    """There was no response, even after retries; see `may_have_happened`."""


class InvalidAnswerError(AgentMemoryError):
    """The response is not from the service: no JSON, or of another form."""


class ClientClosedError(AgentMemoryError):
    """The client is closed; create another one."""


class TaskLostError(BaseException):
    """This worker no longer has the task.

    It has ended, was assigned to another agent, was taken by another process of this agent, or the
    worker releases it. Calls on memory in a worker's function raise it. Don't catch it: no
    `except Exception` does, the worker reports nothing, and the successor finds what was saved
    (RFC-0015 §8).
    """

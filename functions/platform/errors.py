"""What can go wrong, as the caller is told it; `api/problems.py` has the statuses (contract §3)."""

from typing import Any, ClassVar, Self


class ServiceError(Exception):
    """Base of all errors that a caller may see.

    Attributes:
        code: the contract's code.
        message: one sentence that says what to do; never holds another principal's data.
        members: extra members of the problem document.
        index: which part of a batch failed.
    """

    code: ClassVar[str]
    index: int | None = None

    def __init__(self, message: str, **members: Any) -> None:
        super().__init__(message)
        self.message = message
        self.members = members

    def at(self, index: int) -> Self:
        """The error of the part of a batch at `index`."""
        self.index = index
        return self


class ValidationFailed(ServiceError):
    """The request is malformed; `errors` names each field."""

    code = "VALIDATION_ERROR"

    def __init__(self, field: str, problem: str, *more: tuple[str, str]) -> None:
        errors = [{"field": f, "message": m} for f, m in ((field, problem), *more)]
        super().__init__(f"{field}: {problem}", errors=errors)


class Unauthenticated(ServiceError):
    """No key, or not a good one."""

    code = "UNAUTHENTICATED"


class AccessDenied(ServiceError):
    """The principal may not do this (RFC-0015 §6.4, §9.1)."""

    code = "ACCESS_DENIED"


class EntryNotFound(ServiceError):
    """No such memory entry in the caller's tenant."""

    code = "ENTRY_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("no memory entry has this id")


class NotFound(ServiceError):
    """No such thing in the caller's tenant."""

    code = "NOT_FOUND"


class MethodNotAllowed(ServiceError):
    """The path exists, for the `allowed` methods."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"this path takes {', '.join(allowed)}")
        self.allowed = allowed


class Conflict(ServiceError):
    """Something stands in the way; `current` is what stands there, where the caller may read it."""

    def __init__(self, message: str, *, current: Any = None, version: int | None = None) -> None:
        super().__init__(message)
        self.current = current
        self.version = version


class VersionMismatch(Conflict):
    """If-Match named another version than the present one (RFC-0015 §3.2)."""

    code = "VERSION_MISMATCH"


class EntryExists(Conflict):
    """The slot is taken (RFC-0015 §1.2)."""

    code = "ENTRY_EXISTS"


class IdempotencyConflict(Conflict):
    """The same Idempotency-Key came with another body."""

    code = "IDEMPOTENCY_CONFLICT"


class TaskClosed(ServiceError):
    """The task has ended; no working memory can be written for it."""

    code = "TASK_CLOSED"


class ValueTooLarge(ServiceError):
    """The value is over the limit of RFC-0015 §1.3; `max` and `actual` are bytes."""

    code = "VALUE_TOO_LARGE"


class BatchTooLarge(ServiceError):
    """More than one atomic write can hold."""

    code = "BATCH_TOO_LARGE"


class BodyTooLarge(ServiceError):
    """The request body is over the limit; `max` and `actual` are bytes."""

    code = "BODY_TOO_LARGE"


class PreconditionRequired(ServiceError):
    """A change needs If-Match (RFC-0015 §3.1)."""

    code = "PRECONDITION_REQUIRED"


class CapacityExceeded(ServiceError):
    """A limit of RFC-0015 §9.4 is reached."""

    code = "CAPACITY_EXCEEDED"

    def __init__(
        self,
        limit: str,
        current_count: int,
        max_capacity: int,
        remedy: str = "delete entries first",
    ) -> None:
        super().__init__(
            f"{limit} is reached: {current_count} of {max_capacity} in use; {remedy}",
            limit=limit,
            current_count=current_count,
            max_capacity=max_capacity,
        )


class SecretLeakage(ServiceError):
    """An entry holds secrets of its run, which rejects them (OpenWOP RFC 0004 §D)."""

    code = "SECRET_LEAKAGE"

    def __init__(self, labels: list[str]) -> None:
        super().__init__(
            f"the entry holds secrets of its run ({', '.join(labels)}); nothing was stored",
            labels=labels,
        )


class RunClosed(ServiceError):
    """The run was completed or has failed; that stays as it is (ADR-043)."""

    code = "RUN_CLOSED"


class RunEnded(ServiceError):
    """The run is over; its snapshot and its secrets are gone."""

    code = "RUN_ENDED"


class Throttled(ServiceError):
    """The store asks to slow down; `retry_after` is in seconds."""

    code = "THROTTLED"
    retry_after = 1


class Unavailable(ServiceError):
    """The store can't be reached or didn't answer; `retry_after` is in seconds."""

    code = "UNAVAILABLE"
    retry_after = 1

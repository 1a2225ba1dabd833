"""Every error that a caller can see; what their codes mean is in `error_codes`."""

from typing import Any, ClassVar, Self


class ServiceError(Exception):
    """Base of all errors that a caller can see.

    Attributes:
        code: a key of `error_codes.ERROR_CODES` or `OPENWOP_ERROR_CODES`.
        message: one sentence that says what to do. It never holds another principal's data.
        members: additional members of the problem document.
        index: the index of the operation of a batch that failed, if it is known.
    """

    code: ClassVar[str]
    index: int | None = None

    def __init__(self, message: str, **members: Any) -> None:
        super().__init__(message)
        self.message = message
        self.members = members

    def at(self, index: int | None) -> Self:
        """Set the index of the failed operation of a batch, if it is one; return the error."""
        self.index = index
        return self


class ValidationFailed(ServiceError):
    """The request is malformed; `errors` names each field."""

    code = "VALIDATION_ERROR"

    def __init__(self, field: str, problem: str, *more: tuple[str, str]) -> None:
        errors = [{"field": f, "message": m} for f, m in ((field, problem), *more)]
        super().__init__(f"{field}: {problem}", errors=errors)


class Unauthenticated(ServiceError):
    """The request has no valid API key or token."""

    code = "UNAUTHENTICATED"


class AccessDenied(ServiceError):
    """The principal has no permission for this operation (RFC-0015 §6.4, §9.1)."""

    code = "ACCESS_DENIED"


class EntryNotFound(ServiceError):
    """The caller's tenant has no memory entry with this id."""

    code = "ENTRY_NOT_FOUND"

    def __init__(self, message: str = "no memory entry has this id") -> None:
        super().__init__(message)


class NotFound(ServiceError):
    """The caller's tenant has no such resource."""

    code = "NOT_FOUND"


class MethodNotAllowed(ServiceError):
    """The path exists, but only for the `allowed` methods."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"this path takes {', '.join(allowed)}")
        self.allowed = allowed


class Conflict(ServiceError):
    """The present state prevents the write; `current` is it, if the caller may read it."""

    def __init__(self, message: str, *, current: Any = None, version: int | None = None) -> None:
        super().__init__(message)
        self.current = current
        self.version = version


class VersionMismatch(Conflict):
    """If-Match names another version than the present one (RFC-0015 §3.2)."""

    code = "VERSION_MISMATCH"

    @classmethod
    def of_replay(cls, subject: str, version: int | None = None) -> Self:
        """Build the error of a request that was carried out before the latest change."""
        message = f"{subject} was changed after this request was carried out; read it first"
        return cls(message, version=version)

    @classmethod
    def of(cls, subject: str, version: int, current: Any = None) -> Self:
        """Build the error of a change of a subject, such as "the task", that is at `version`."""
        message = f"{subject} is at version {version}; read it and try again"
        return cls(message, current=current, version=version)


class EntryExists(Conflict):
    """An entry with this natural key exists (RFC-0015 §1.2)."""

    code = "ENTRY_EXISTS"


class IdempotencyConflict(Conflict):
    """The Idempotency-Key was used with another request body."""

    code = "IDEMPOTENCY_CONFLICT"


class TaskClosed(ServiceError):
    """The task has ended, so no working memory can be written for it."""

    code = "TASK_CLOSED"


class TaskReassigned(ServiceError):
    """The task was the caller's and has been handed over; the caller writes nothing for it."""

    code = "TASK_REASSIGNED"


class ConversationNotOwned(ServiceError):
    """The creator of the conversation is none of the principals that the append expects."""

    code = "CONVERSATION_NOT_OWNED"


class ValueTooLarge(ServiceError):
    """The value exceeds the limit of RFC-0015 §1.3; `max` and `actual` are in bytes."""

    code = "VALUE_TOO_LARGE"


class BatchTooLarge(ServiceError):
    """The batch exceeds what one transaction can hold."""

    code = "BATCH_TOO_LARGE"


class BodyTooLarge(ServiceError):
    """The request body exceeds the limit; `max` and `actual` are in bytes."""

    code = "BODY_TOO_LARGE"


class PageTooLarge(ServiceError):
    """A bare array would have to be cut; `limit` is how many of its elements fit."""

    code = "PAGE_TOO_LARGE"


class RangeNotSatisfiable(ServiceError):
    """The range begins behind an object's last byte; `size` is the object's, in bytes."""

    code = "RANGE_NOT_SATISFIABLE"

    def __init__(self, size: int) -> None:
        super().__init__(
            f"the object has {size} bytes, and the range begins behind them", size=size
        )
        self.size = size


class PreconditionRequired(ServiceError):
    """The change has no If-Match (RFC-0015 §3.1)."""

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
        state = "is reached" if current_count >= max_capacity else "would be exceeded"
        super().__init__(
            f"{limit} {state}: {current_count} of {max_capacity} in use; {remedy}",
            limit=limit,
            current_count=current_count,
            max_capacity=max_capacity,
        )


class QuotaExceeded(ServiceError):
    """The operator's limit of the tenant is reached."""

    code = "QUOTA_EXCEEDED"

    def __init__(self, limit: str, most: int, remedy: str) -> None:
        super().__init__(
            f"the tenant's limit {limit} of {most:,} is reached; {remedy}",
            limit=limit,
            max_capacity=most,
        )


class SecretLeakage(ServiceError):
    """The entry holds secrets of open runs, and its run rejects them (OpenWOP RFC 0004 §D)."""

    code = "SECRET_LEAKAGE"

    def __init__(self, labels: list[str]) -> None:
        super().__init__(
            f"the entry holds secrets of open runs ({', '.join(labels)}); nothing was stored",
            labels=labels,
        )


class RunClosed(ServiceError):
    """The run is completed or has failed, which is final (ADR-043)."""

    code = "RUN_CLOSED"


class RunEnded(ServiceError):
    """The run is over, or its snapshot is no longer kept."""

    code = "RUN_ENDED"


class LastAdmin(ServiceError):
    """The tenant would have no administrator."""

    code = "LAST_ADMIN"


class HistoryNotKept(ServiceError):
    """Tells what is asked for is older than the kept history."""

    code = "HISTORY_NOT_KEPT"


class Throttled(ServiceError):
    """The store is overloaded, or conflicts persist; `retry_after` is in seconds."""

    code = "THROTTLED"
    retry_after = 1


class Unavailable(ServiceError):
    """The store or another service doesn't respond; `retry_after` is in seconds."""

    code = "UNAVAILABLE"
    retry_after = 1


class UnreadableValue(ServiceError):
    """A stored value was damaged or moved: it can't be decrypted or decompressed."""

    code = "UNREADABLE"

    def __init__(self) -> None:
        super().__init__("the stored value can't be read; replace it, or delete it")


class ReadOnly(Unavailable):
    """Nothing is written for now: the operator moves the data, or another Region writes."""

    retry_after = 5

    def __init__(self) -> None:
        super().__init__("nothing is written here for now; send the same request again")


class InternalError(ServiceError):
    """The service failed unexpectedly; nothing of the cause is revealed."""

    code = "INTERNAL_ERROR"

    def __init__(self) -> None:
        super().__init__("the service failed; the request id leads its operators to the reason")

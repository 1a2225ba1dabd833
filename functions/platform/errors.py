"""Every error that a caller can see, and the catalog of their codes."""

from typing import Any, ClassVar, NamedTuple, Self


class ErrorCode(NamedTuple):
    """What a code means: HTTP status, title, cause, and what a caller can do about it."""

    status: int
    title: str
    description: str
    remedy: str


ERROR_CODES: dict[str, ErrorCode] = {
    "VALIDATION_ERROR": ErrorCode(
        400,
        "The request is malformed",
        "A field or parameter of the request is wrong, missing or unknown.",
        "Correct what `errors` names.",
    ),
    "UNAUTHENTICATED": ErrorCode(
        401,
        "A good API key is needed",
        "The request has no key, or the key is unknown, revoked or expired.",
        "Send `X-API-Key: KEY` or `Authorization: Bearer KEY`.",
    ),
    "ACCESS_DENIED": ErrorCode(
        403,
        "Not allowed",
        "The key is valid, but its principal has no permission for this.",
        "Ask who administers the namespace, task or tenant; retrying doesn't help.",
    ),
    "ENTRY_NOT_FOUND": ErrorCode(
        404,
        "No such entry",
        "No memory entry of your tenant has this id, or it has expired or been deleted.",
        "Query for the entry. An entry that was created again has another id.",
    ),
    "NOT_FOUND": ErrorCode(
        404,
        "Not found",
        "Your tenant has no such resource, or there is nothing at this path.",
        "Check the id and the path.",
    ),
    "METHOD_NOT_ALLOWED": ErrorCode(
        405,
        "Method not allowed",
        "The path exists, but not for this method.",
        "The message lists the methods that it takes.",
    ),
    "VERSION_MISMATCH": ErrorCode(
        409,
        "Another version is present",
        "Another request changed it: the present version isn't the one that you named.",
        "Merge your change into `current`, and send it again with `current_version`.",
    ),
    "ENTRY_EXISTS": ErrorCode(
        409,
        "An entry with this key exists",
        "Something with this key or name exists.",
        "Change what exists (`current`), or choose another name.",
    ),
    "IDEMPOTENCY_CONFLICT": ErrorCode(
        409,
        "The Idempotency-Key was used for another request",
        "This Idempotency-Key was used before, for another request.",
        "Use a fresh key for each new request, and the same one for its retries only.",
    ),
    "TASK_CLOSED": ErrorCode(
        409,
        "The task has ended",
        "The task has ended; nothing more is written for it.",
        "Write under a task that is open.",
    ),
    "TASK_REASSIGNED": ErrorCode(
        409,
        "The task is another agent's",
        "The task was yours and has been handed over; what you write for it no longer counts.",
        "Stop working on the task, or ask its coordinator for a grant.",
    ),
    "RUN_CLOSED": ErrorCode(
        409,
        "The run has ended",
        "The run has been completed or has failed; its result stays as it is.",
        "Start another run.",
    ),
    "VALUE_TOO_LARGE": ErrorCode(
        413,
        "The value is too large",
        "The value has more bytes than memory takes (`actual` over `max`).",
        "Keep bulk data elsewhere, and store a reference to it.",
    ),
    "BATCH_TOO_LARGE": ErrorCode(
        413,
        "The batch is too large",
        "This is more than one atomic write can hold.",
        "Split the batch, or use fewer tags on semantic entries.",
    ),
    "BODY_TOO_LARGE": ErrorCode(
        413,
        "The body is too large",
        "The request body has more bytes than the service takes.",
        "Send less at once.",
    ),
    "PAGE_TOO_LARGE": ErrorCode(
        413,
        "The page is too large",
        "The list is a bare array, and what you ask for is more bytes than a response holds.",
        "Ask for `limit` elements, and continue with `offset`.",
    ),
    "RANGE_NOT_SATISFIABLE": ErrorCode(
        416,
        "The range isn't in the object",
        "The range begins behind the last byte of the object; `size` is how many bytes it has.",
        "Ask for a range within `size` bytes.",
    ),
    "PRECONDITION_REQUIRED": ErrorCode(
        428,
        "If-Match is needed",
        "A change needs to name the version that it was made from.",
        "Send If-Match with the version that you last read.",
    ),
    "CAPACITY_EXCEEDED": ErrorCode(
        429,
        "A limit is reached",
        "A limit is reached: `limit` says which, beside `current_count` and `max_capacity`.",
        "Delete entries or let them expire, or have the limit raised.",
    ),
    "THROTTLED": ErrorCode(
        429,
        "Too many requests",
        "There are too many requests, or others keep changing the same item.",
        "Wait for the seconds of Retry-After, and send the same request again.",
    ),
    "INTERNAL_ERROR": ErrorCode(
        500,
        "Internal error",
        "The service failed unexpectedly.",
        "Give its operators the `X-Request-Id` of the response.",
    ),
    "UNAVAILABLE": ErrorCode(
        503,
        "The store is not available",
        "The store can't be reached, or doesn't respond in time.",
        "Wait as Retry-After says. With an Idempotency-Key a retry writes nothing twice.",
    ),
}
"""The codes of problem documents, in the order of their documentation."""

OPENWOP_ERROR_CODES: dict[str, ErrorCode] = {
    "RUN_ENDED": ErrorCode(
        409,
        "The run has ended",
        "The run is over, or, for a replay, its snapshot is no longer kept.",
        "Start another run, or replay this one with `replayOf`.",
    ),
    "SECRET_LEAKAGE": ErrorCode(
        422,
        "The entry holds secrets",
        "The entry holds secrets of the memory's open runs, and its run rejects them.",
        "Remove the secrets that `labels` names.",
    ),
}
"""The codes that only the OpenWOP routes give."""


class ServiceError(Exception):
    """Base of all errors that a caller can see.

    Attributes:
        code: a key of `ERROR_CODES` or `OPENWOP_ERROR_CODES`.
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


class Throttled(ServiceError):
    """The store is overloaded, or conflicts persist; `retry_after` is in seconds."""

    code = "THROTTLED"
    retry_after = 1


class Unavailable(ServiceError):
    """The store or another service doesn't respond; `retry_after` is in seconds."""

    code = "UNAVAILABLE"
    retry_after = 1


class ReadOnly(Unavailable):
    """Nothing is written for now: the operator moves the data, or another Region writes."""

    retry_after = 5

    def __init__(self) -> None:
        super().__init__("nothing is written here for now; send the same request again")

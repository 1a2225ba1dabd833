"""Every error that a caller can see, with its code, status, title, meaning and remedy."""

from typing import Any, ClassVar, Self


class ServiceError(Exception):
    """Base of all errors that a caller can see.

    The docstring of an error with a code is the description in the documentation of the API.

    Attributes:
        code: identifies the error in responses.
        title: a few words that are the same for each such error.
        remedy: the remedy of the caller.
        message: one sentence that says what to do. It never holds another principal's data.
        members: additional members of the problem document.
        index: the index of the failed operation of a batch, if known.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    remedy: ClassVar[str]
    description: ClassVar[str]
    index: int | None = None

    def __init_subclass__(cls) -> None:
        cls.description = " ".join((cls.__doc__ or "").split())

    def __init__(self, message: str, **members: Any) -> None:
        super().__init__(message)
        self.message = message
        self.members = members

    def at(self, index: int | None) -> Self:
        """Set the index of the failed operation of a batch, if any; return the error."""
        self.index = index
        return self


class ValidationFailed(ServiceError):
    """A field or parameter of the request is wrong, missing or unknown."""

    code, status, title = "VALIDATION_ERROR", 400, "The request is malformed"
    remedy = "Correct what `errors` names."

    def __init__(self, field: str, problem: str, *more: tuple[str, str]) -> None:
        errors = [{"field": f, "message": m} for f, m in ((field, problem), *more)]
        super().__init__(f"{field}: {problem}", errors=errors)


class Unauthenticated(ServiceError):
    """The request has no key, or the key is unknown, revoked or expired."""

    code, status, title = "UNAUTHENTICATED", 401, "A valid API key is required"
    remedy = "Send `X-API-Key: KEY` or `Authorization: Bearer KEY`."


class AccessDenied(ServiceError):
    """The key is valid, but its principal has no permission for this request."""

    code, status, title = "ACCESS_DENIED", 403, "Not allowed"
    remedy = "Ask an administrator of the namespace, task or tenant; retrying doesn't help."


class EntryNotFound(ServiceError):
    """No memory entry of your tenant has this id, or it has expired or been deleted."""

    code, status, title = "ENTRY_NOT_FOUND", 404, "No such entry"
    remedy = "Query for the entry. An entry that was created again has another id."

    def __init__(self, message: str = "no memory entry has this id") -> None:
        super().__init__(message)


class NotFound(ServiceError):
    """Your tenant has no such resource, or there is nothing at this path."""

    code, status, title = "NOT_FOUND", 404, "Not found"
    remedy = "Check the id and the path."


class MethodNotAllowed(ServiceError):
    """The path exists, but not for this method."""

    code, status, title = "METHOD_NOT_ALLOWED", 405, "Method not allowed"
    remedy = "Use a method that the message lists."

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"this path accepts {', '.join(allowed)}")
        self.allowed = allowed


class Conflict(ServiceError):
    """The present state prevents the write; `current` has it, if the caller may read it."""

    def __init__(self, message: str, *, current: Any = None, version: int | None = None) -> None:
        super().__init__(message)
        self.current = current
        self.version = version


class VersionMismatch(Conflict):
    """Another request changed the resource: its version isn't the one that you named."""

    code, status, title = "VERSION_MISMATCH", 409, "Another version is present"
    remedy = "Merge your change into `current`, and send it again with `current_version`."

    @classmethod
    def of_replay(cls, subject: str, version: int | None = None) -> Self:
        """Build the error of a request that was carried out before the latest change."""
        message = (
            f"{subject} was changed after this request; read it, and use a new Idempotency-Key"
        )
        return cls(message, version=version)

    @classmethod
    def of(cls, subject: str, version: int, current: Any = None) -> Self:
        """Build the error of a change of a subject, such as "the task", at another `version`."""
        message = f"{subject} is at version {version}; read it and try again"
        return cls(message, current=current, version=version)


class EntryExists(Conflict):
    """A resource with this key or name exists."""

    code, status, title = "ENTRY_EXISTS", 409, "An entry with this key exists"
    remedy = "Change the existing one (`current`), or choose another name."


class IdempotencyConflict(Conflict):
    """This Idempotency-Key was used before, for another request."""

    code = "IDEMPOTENCY_CONFLICT"
    status = 409
    title = "The Idempotency-Key was used for another request"
    remedy = "Use a fresh key for each new request, and the same one for its retries only."


class TaskClosed(ServiceError):
    """The task has ended; nothing more is written for it."""

    code, status, title = "TASK_CLOSED", 409, "The task has ended"
    remedy = "Write under a task that is open."


class LastAdmin(ServiceError):
    """The principal is the last one with `memory.admin` whose key does not expire."""

    code, status, title = "LAST_ADMIN", 409, "The tenant needs an administrator"
    remedy = "Give another principal `memory.admin` without `expires_at`, then repeat the request."


class HistoryNotKept(ServiceError):
    """The earlier value is not kept: it is too old, was removed, or no history is kept here."""

    code, status, title = "HISTORY_NOT_KEPT", 410, "The earlier state is not kept"
    remedy = "Ask for a later time. The `history` of the namespace or the agent says what is kept."


class TaskReassigned(ServiceError):
    """The task was yours and has been handed over; your writes for it are rejected."""

    code, status, title = "TASK_REASSIGNED", 409, "The task is another agent's"
    remedy = "Stop working on the task, or ask its coordinator for a grant."


class ConversationNotOwned(ServiceError):
    """The conversation's creator or user is not the one that the append expects."""

    code, status, title = "CONVERSATION_NOT_OWNED", 409, "The conversation is another's"
    remedy = "Use another `session_id`, or leave out the `expect_` fields to join it."


class RunClosed(ServiceError):
    """The run has been completed or has failed; its result stays as it is."""

    code, status, title = "RUN_CLOSED", 409, "The run has ended"
    remedy = "Start another run."


class ValueTooLarge(ServiceError):
    """The value has more bytes than memory accepts (`actual` over `max`)."""

    code, status, title = "VALUE_TOO_LARGE", 413, "The value is too large"
    remedy = "Keep bulk data elsewhere, and store a reference to it."


class BatchTooLarge(ServiceError):
    """The batch has more than one atomic write can hold."""

    code, status, title = "BATCH_TOO_LARGE", 413, "The batch is too large"
    remedy = "Split the batch, or use fewer tags on semantic entries."


class BodyTooLarge(ServiceError):
    """The body has too many bytes, or too many arrays and objects."""

    code, status, title = "BODY_TOO_LARGE", 413, "The body is too large"
    remedy = "Send less at once."


class PageTooLarge(ServiceError):
    """The list is a bare array, and the requested part is too large for a response."""

    code, status, title = "PAGE_TOO_LARGE", 413, "The page is too large"
    remedy = "Ask for `limit` elements, and continue with `offset`."


class RangeNotSatisfiable(ServiceError):
    """The range begins behind the last byte of the object; `size` is how many bytes it has."""

    code, status, title = "RANGE_NOT_SATISFIABLE", 416, "The range is outside the object"
    remedy = "Ask for a range within `size` bytes."

    def __init__(self, size: int) -> None:
        super().__init__(f"the object has {size} bytes; the range begins after its end", size=size)
        self.size = size


class PreconditionRequired(ServiceError):
    """A change must name the version that it was made from."""

    code, status, title = "PRECONDITION_REQUIRED", 428, "If-Match is required"
    remedy = "Send If-Match with the version that you last read."


class CapacityExceeded(ServiceError):
    """A limit is reached: `limit` names it, beside `current_count` and `max_capacity`."""

    code, status, title = "CAPACITY_EXCEEDED", 429, "A limit is reached"
    remedy = "Delete entries or let them expire, or have the limit raised."

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
    """A limit that the operator has set for the tenant is reached: `limit` names it."""

    code, status, title = "QUOTA_EXCEEDED", 429, "The tenant's limit is reached"
    remedy = "Delete what is no longer needed, or ask the operator to raise the limit."

    def __init__(self, limit: str, most: int, remedy: str) -> None:
        super().__init__(
            f"the tenant's limit {limit} of {most:,} is reached; {remedy}",
            limit=limit,
            max_capacity=most,
        )


class Throttled(ServiceError):
    """There are too many requests, or others keep changing the same item."""

    code, status, title = "THROTTLED", 429, "Too many requests"
    remedy = "Wait for the seconds of Retry-After, and send the same request again."
    retry_after = 1


class InternalError(ServiceError):
    """The service failed unexpectedly."""

    code, status, title = "INTERNAL_ERROR", 500, "Internal error"
    remedy = "Give its operators the `X-Request-Id` of the response."

    def __init__(self) -> None:
        super().__init__("the service failed; give its operators the request id")


class UnreadableValue(ServiceError):
    """The stored value was damaged, or copied from another item."""

    code, status, title = "UNREADABLE", 409, "The stored value can't be read"
    remedy = "Replace the value or delete it. Lists show it with `unreadable: true`."

    def __init__(self) -> None:
        super().__init__("the stored value can't be read; replace it, or delete it")


class Unavailable(ServiceError):
    """The store can't be reached, or doesn't respond in time."""

    code, status, title = "UNAVAILABLE", 503, "The store is not available"
    remedy = (
        "Wait for the seconds of Retry-After. With an "
        "Idempotency-Key, a retry does not write twice."
    )
    retry_after = 1


class ReadOnly(Unavailable):
    """Writes are stopped for now: the operator moves the data, or another Region writes."""

    retry_after = 5

    def __init__(self) -> None:
        super().__init__("writes are stopped for now; send the same request again")


class RunEnded(ServiceError):
    """The run is over, or, for a replay, its snapshot is no longer kept."""

    code, status, title = "RUN_ENDED", 409, "The run has ended"
    remedy = "Start another run, or replay this one with `replayOf`."


class SecretLeakage(ServiceError):
    """The entry holds secrets of the memory's open runs, and its run rejects them."""

    code, status, title = "SECRET_LEAKAGE", 422, "The entry holds secrets"
    remedy = "Remove the secrets that `labels` names."

    def __init__(self, labels: list[str]) -> None:
        super().__init__(
            f"the entry holds secrets of open runs ({', '.join(labels)}); nothing was stored",
            labels=labels,
        )


OPENWOP_ERROR_CODES: dict[str, type[ServiceError]] = {
    each.code: each for each in (RunEnded, SecretLeakage)
}
"""The errors that only the OpenWOP routes return, by code."""
ERROR_CODES: dict[str, type[ServiceError]] = {
    each.code: each
    for each in list(globals().values())
    if isinstance(each, type) and issubclass(each, ServiceError)
    if "code" in vars(each) and each.code not in OPENWOP_ERROR_CODES
}
"""The errors of problem documents by code, in the order of their documentation."""

"""The codes of all errors that a caller can see: status, title, meaning and remedy."""

from typing import NamedTuple


class ErrorCode(NamedTuple):
    """Tells what a code means: HTTP status, title, cause, and what a caller can do about it."""

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
    "LAST_ADMIN": ErrorCode(
        409,
        "The tenant needs an administrator",
        "The principal is the last one with `memory.admin` whose key does not expire.",
        "Give another principal `memory.admin` without `expires_at`, then repeat the request.",
    ),
    "HISTORY_NOT_KEPT": ErrorCode(
        410,
        "The history does not reach so far",
        "The earlier value is not kept: it is too old, was removed, or no history is kept here.",
        "Ask for a later time. The `history` of the namespace or the agent says what is kept.",
    ),
    "TASK_REASSIGNED": ErrorCode(
        409,
        "The task is another agent's",
        "The task was yours and has been handed over; what you write for it no longer counts.",
        "Stop working on the task, or ask its coordinator for a grant.",
    ),
    "CONVERSATION_NOT_OWNED": ErrorCode(
        409,
        "The conversation is another principal's",
        "Its creator is none of the principals in `expect_created_by`.",
        "Use another `session_id`, or leave `expect_created_by` out to join the conversation.",
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
    "QUOTA_EXCEEDED": ErrorCode(
        429,
        "The tenant's limit is reached",
        "A limit that the operator has set for the tenant is reached: `limit` says which.",
        "Delete what is no longer needed, or ask the operator to raise the limit.",
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
    "UNREADABLE": ErrorCode(
        409,
        "The stored value can't be read",
        "It was damaged in the table, or copied there from another item.",
        "Replace the value or delete it. Lists have it with `unreadable: true`.",
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

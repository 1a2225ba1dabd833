"""What each error code means, and what to do about it, for whoever reads the page (contract §3)."""

PROBLEM_NOTES: dict[str, tuple[str, str]] = {
    "VALIDATION_ERROR": (
        "A field or parameter of the request is wrong, missing or unknown.",
        "Correct what `errors` names.",
    ),
    "UNAUTHENTICATED": (
        "There is no key in the request, or it isn't known, was revoked or has expired.",
        "Send `X-API-Key: KEY` or `Authorization: Bearer KEY`.",
    ),
    "ACCESS_DENIED": (
        "The key is good, but its principal may not do this.",
        "Ask who administers the namespace, task or tenant; retrying doesn't help.",
    ),
    "ENTRY_NOT_FOUND": (
        "No memory entry of your tenant has this id, or it has expired or been deleted.",
        "Query for the entry; one made anew in the same place has another id.",
    ),
    "NOT_FOUND": (
        "There is no such thing in your tenant, or nothing at this path.",
        "Check the id and the path.",
    ),
    "METHOD_NOT_ALLOWED": (
        "The path is there, but not for this method.",
        "The message lists the methods that it takes.",
    ),
    "VERSION_MISMATCH": (
        "Somebody was quicker: another version is in place than the one that you named.",
        "Merge your change into `current`, and send it again with `current_version`.",
    ),
    "ENTRY_EXISTS": (
        "The place is taken already.",
        "Change what stands there (`current`), or choose another name.",
    ),
    "IDEMPOTENCY_CONFLICT": (
        "This Idempotency-Key was used before, for another request.",
        "Use a fresh key for each new request, and the same one for its retries only.",
    ),
    "RUN_CLOSED": (
        "The run has been completed or has failed; its result stays as it is.",
        "Start another run.",
    ),
    "TASK_CLOSED": (
        "The task has ended; nothing more is written for it.",
        "Write under a task that is open.",
    ),
    "VALUE_TOO_LARGE": (
        "The value has more bytes than memory takes (`actual` over `max`).",
        "Keep bulk data elsewhere, and store a reference to it.",
    ),
    "BATCH_TOO_LARGE": (
        "This is more than one atomic write can hold.",
        "Split the batch, or use fewer tags on semantic entries.",
    ),
    "BODY_TOO_LARGE": (
        "The request body has more bytes than the service takes.",
        "Send less at once.",
    ),
    "PRECONDITION_REQUIRED": (
        "A change needs to name the version that it was made from.",
        "Send If-Match with the version that you last read.",
    ),
    "CAPACITY_EXCEEDED": (
        "A limit is reached: `limit` says which, beside `current_count` and `max_capacity`.",
        "Delete entries or let them expire, or have the limit raised.",
    ),
    "THROTTLED": (
        "There is too much at once, or others keep changing the same thing.",
        "Wait for as many seconds as Retry-After says, and send the same request again.",
    ),
    "INTERNAL_ERROR": (
        "The service failed in a way that nobody foresaw.",
        "Tell its operators the `X-Request-Id` of the answer.",
    ),
    "UNAVAILABLE": (
        "The store can't be reached, or didn't answer in time.",
        "Wait as Retry-After says; with an Idempotency-Key a retry writes nothing twice.",
    ),
}
"""What each code means, and what to do about it."""

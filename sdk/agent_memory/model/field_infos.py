"""The service's descriptions of the fields of an entry.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field that a call takes, as the service describes it."""

    name: str
    type: str
    choices: tuple[str, ...]
    description: str


ENTRY_FIELDS = {
    "expires_at": FieldInfo(
        "expires_at",
        "string",
        (),
        ("The time of its expiry. It is not found afterwards."),
    ),
    "memory_type": FieldInfo(
        "memory_type",
        "string",
        (
            "working",
            "episodic",
            "semantic",
        ),
        ("The tier: it decides on lifetime and access."),
    ),
    "occurred_at": FieldInfo(
        "occurred_at",
        "string",
        (),
        (
            "The time when the content happened. Null: when the entry was created. "
            "Lists stay ordered by creation."
        ),
    ),
    "pinned": FieldInfo(
        "pinned",
        "boolean",
        (),
        ("Episodic only: never evicted."),
    ),
    "priority": FieldInfo(
        "priority",
        "string",
        (
            "low",
            "normal",
            "high",
        ),
        (""),
    ),
    "scope": FieldInfo(
        "scope",
        "object",
        (),
        ("The task and intent that the entry belongs to."),
    ),
    "sensitivity": FieldInfo(
        "sensitivity",
        "string",
        (
            "public",
            "internal",
            "confidential",
            "restricted",
        ),
        ("`confidential` and `restricted` values are stored encrypted."),
    ),
    "tags": FieldInfo(
        "tags",
        "array",
        (),
        ("Labels to query by."),
    ),
    "ttl": FieldInfo(
        "ttl",
        "object",
        (),
        (
            "`task_lifetime`, `duration:` and an ISO 8601 duration, such as "
            "`duration:PT24H`, or null: it does not expire. `expires_at` takes "
            "precedence."
        ),
    ),
    "vector": FieldInfo(
        "vector",
        "array",
        (),
        (
            "Your own embedding of the entry, to search by. All vectors of a "
            "namespace have as many numbers as its first one. Null removes it. "
            "Answers contain it only on request."
        ),
    ),
}


ENTRY_CHANGES = (
    "expires_at",
    "occurred_at",
    "pinned",
    "priority",
    "sensitivity",
    "tags",
    "ttl",
    "vector",
)

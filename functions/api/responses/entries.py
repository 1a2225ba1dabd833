"""Documents of entries (RFC-0015 §1)."""

from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonObject,
    PagePosition,
    Timestamp,
    UncountedPosition,
    Version,
    to_document,
)
from functions.entries.model import Entry
from functions.entries.summary import Summary
from functions.entries.tiers import Priority, Tier
from functions.platform.clock import to_optional_rfc3339, to_rfc3339
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import TTL_PATTERN

_KB = 1024


class EntryScopeDocument(TypedDict):
    """The task and intent that an entry belongs to."""

    task_id: NotRequired[str]
    intent_id: NotRequired[str]


class EntryHeadDocument(TypedDict):
    """An entry of memory without its value."""

    id: Annotated[str, Field(pattern="^mem_")]
    agent_id: str
    """The owner."""
    namespace: str
    """The group that the entry belongs to, such as `billing.invoices`."""
    key: str
    """The entry's name within its namespace."""
    memory_type: Tier
    """The tier, which determines lifetime and access."""
    scope: EntryScopeDocument
    """The task and intent that the entry belongs to."""
    tags: tuple[str, ...]
    """Labels to query by."""
    ttl: Annotated[str, Field(pattern=TTL_PATTERN)] | None
    """`task_lifetime`, `duration:` and an ISO 8601 duration, or null: no end."""
    pinned: bool
    """Episodic only: never evicted."""
    priority: Priority
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes; send it as If-Match, or in a batch."""
    created_at: Timestamp
    updated_at: Timestamp
    occurred_at: Timestamp
    """The time when the content happened; by default, the creation of the entry."""
    expires_at: Timestamp | None
    """The time of its expiry. It is not found afterwards."""
    created_by: str
    curated_by: NotRequired[str]
    """Semantic only: the author of the last change."""
    vector_length: NotRequired[Count]
    """The number of elements of the client's vector; absent if there is none."""
    unreadable: NotRequired[bool]
    """True if the stored value was damaged or moved: replace it or delete the entry."""
    inherited: NotRequired[bool]
    """True for an entry of the parent task that its sub-task inherits."""


class EntryDocument(EntryHeadDocument):
    """An entry of memory."""

    value: NotRequired[Annotated[JsonObject, VALUE]]
    """Your JSON object. Absent without `memory.read`, and with `values=omit`."""
    vector: NotRequired[list[float]]
    """The client's vector, of length 1. Only shown with `vector=include`."""
    superseded_at: NotRequired[Timestamp | None]
    """With `version` or `as_of`: when the next version was written; null in the present one."""


class VersionHeadDocument(TypedDict):
    """A version of an entry without its value."""

    version: Version
    time: Timestamp
    """The time when it was written."""
    actor: str
    """The principal that wrote it."""
    change: Literal["created", "updated"]
    tags: list[str]
    superseded_at: Timestamp | None
    """The time when the next version was written; null in the present one."""
    unreadable: NotRequired[bool]
    """True if the stored value was damaged or moved."""


class EntryVersionDocument(VersionHeadDocument):
    """A version of an entry."""

    value: NotRequired[Annotated[JsonObject, VALUE]]
    """Your JSON object. Absent without `memory.read`, and with `values=omit`."""


class EntryHistoryDocument(TypedDict):
    """A page of an entry's versions, newest first."""

    versions: list[EntryVersionDocument]
    limit: Count
    next: NotRequired[str]
    """Continues the list as `after`; absent on the last page."""


class EntryPageDocument(PagePosition):
    """A page of entries."""

    entries: list[EntryDocument]


class EvictionCandidateDocument(EntryHeadDocument):
    """An entry that may be evicted, without its value."""

    last_accessed_at: Timestamp
    """The time of the owner's last write or recorded read."""


class EvictionOrderDocument(UncountedPosition):
    """A page of an agent's episodic entries, in the order in which they are evicted."""

    entries: list[EvictionCandidateDocument]
    hidden: NotRequired[Literal[True]]
    """With an empty list: the caller may not read its elements."""


class WorkingSummaryDocument(TypedDict):
    """An agent's working memory in figures."""

    entry_count: Count
    total_size_kb: Count
    """The bytes of all values, in units of 1,024, rounded up."""
    tasks_with_memory: list[str]


class EpisodicSummaryDocument(TypedDict):
    """An agent's episodic memory in figures."""

    entry_count: Count
    capacity: Count
    pinned_count: Count
    total_size_kb: Count
    """The bytes of all values, in units of 1,024, rounded up."""
    oldest_entry: Timestamp | None
    newest_entry: Timestamp | None


class MemorySummaryDocument(TypedDict):
    """An agent's memory in figures."""

    agent_id: str
    working: WorkingSummaryDocument
    episodic: EpisodicSummaryDocument
    semantic_namespaces_accessible: list[str]


def render_entry(entry: Entry, *, has_value: bool = True) -> EntryDocument:
    """Render an entry. The stored value is copied without parsing."""
    document = EntryDocument if has_value and not entry.unreadable else EntryHeadDocument
    scope = {"task_id": entry.task_id, "intent_id": entry.intent_id}
    happened = entry.created_at if entry.occurred_at is None else entry.occurred_at
    return to_document(
        entry,
        cast("type[EntryDocument]", document),
        scope={name: id for name, id in scope.items() if id is not None},
        occurred_at=to_rfc3339(happened),
    )


def render_version(entry: Entry, *, has_value: bool) -> EntryVersionDocument:
    """Render a version of an entry in its history."""
    document = EntryVersionDocument if has_value and not entry.unreadable else VersionHeadDocument
    return to_document(
        entry,
        cast("type[EntryVersionDocument]", document),
        time=to_rfc3339(entry.updated_at),
        actor=entry.actor.id,
        change="created" if entry.version == 1 else "updated",
    )


def render_past_entry(entry: Entry, *, has_value: bool = True) -> EntryDocument:
    """Render an earlier version of an entry, with the time when it was superseded."""
    document = render_entry(entry, has_value=has_value)
    document["superseded_at"] = to_optional_rfc3339(entry.superseded_at)
    return document


def render_eviction_candidate(entry: Entry) -> EvictionCandidateDocument:
    head = render_entry(entry, has_value=False)
    accessed = {"last_accessed_at": to_rfc3339(entry.last_accessed_at)}
    return cast("EvictionCandidateDocument", head | accessed)


def render_summary(summary: Summary) -> MemorySummaryDocument:
    """Render an agent's memory in figures (RFC-0015 "Agent Memory Summary")."""
    return {
        "agent_id": summary.agent_id,
        "working": {
            "entry_count": summary.working_entry_count,
            "total_size_kb": -(-summary.working_bytes // _KB),
            "tasks_with_memory": summary.tasks_with_memory,
        },
        "episodic": {
            "entry_count": summary.episodic_entry_count,
            "capacity": summary.capacity,
            "pinned_count": summary.pinned_count,
            "total_size_kb": -(-summary.episodic_bytes // _KB),
            "oldest_entry": to_optional_rfc3339(summary.oldest_entry),
            "newest_entry": to_optional_rfc3339(summary.newest_entry),
        },
        "semantic_namespaces_accessible": summary.semantic_namespaces_accessible,
    }

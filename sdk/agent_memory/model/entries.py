"""Entries of memory (RFC-0015 §1.1).

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import MemoryType, Priority, Sensitivity, VersionChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Model):
    """A memory entry (RFC-0015 §1.1).

    Attributes:
        agent_id: The owner.
        namespace: The group that the entry belongs to, such as `billing.invoices`.
        key: The entry's name within its namespace.
        memory_type: The tier, which determines lifetime and access.
        tags: Labels to query by.
        ttl: `task_lifetime`, `duration:` and an ISO 8601 duration, or null: no end.
        pinned: Episodic only: never evicted.
        sensitivity: `confidential` and `restricted` values are stored encrypted.
        version: Counts the changes; send it as If-Match, or in a batch.
        occurred_at: The time when the content happened; by default, the creation of the entry.
        expires_at: The time of its expiry. It is not found afterwards.
        curated_by: Semantic only: the author of the last change.
        vector_length: The number of elements of the client's vector; absent if there is none.
        unreadable: True if the stored value was damaged or moved: replace it or delete the
            entry.
        inherited: True for an entry of the parent task that its sub-task inherits.
        value: Your JSON object. Absent without `memory.read`, and with `values=omit`.
        vector: The client's vector, of length 1. Only shown with `vector=include`.
        superseded_at: With `version` or `as_of`: when the next version was written; null in the
            present one.
    """

    id: str
    agent_id: str
    namespace: str
    key: str
    memory_type: MemoryType
    task_id: str | None = field(default=None, metadata={"path": "scope.task_id"})
    intent_id: str | None = field(default=None, metadata={"path": "scope.intent_id"})
    tags: tuple[str, ...]
    ttl: str | None = None
    pinned: bool
    priority: Priority
    sensitivity: Sensitivity | None = None
    version: int
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime
    expires_at: datetime | None = None
    created_by: str
    curated_by: str | None = None
    vector_length: int | None = None
    unreadable: bool = False
    inherited: bool = False
    value: dict[str, Any] = field(default_factory=dict)
    vector: tuple[float, ...] = ()
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVersion(Model):
    """A version of an entry.

    Attributes:
        time: The time when it was written.
        actor: The principal that wrote it.
        superseded_at: The time when the next version was written; null in the present one.
        unreadable: True if the stored value was damaged or moved.
        value: Your JSON object. Absent without `memory.read`, and with `values=omit`.
    """

    version: int
    time: datetime
    actor: str
    change: VersionChange
    tags: tuple[str, ...]
    superseded_at: datetime | None = None
    unreadable: bool = False
    value: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Model):
    """An entry that a search found.

    Attributes:
        score: The relevance: 1 for the same words; for a search by vector, the cosine. Compare
            scores only within one response.
        matched: The words and ids of the query that the entry has, without case and accents.
    """

    entry: Entry
    score: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionCandidate(Entry):
    """An episodic entry that may be evicted.

    Attributes:
        last_accessed_at: The time of the owner's last write or recorded read.
    """

    last_accessed_at: datetime

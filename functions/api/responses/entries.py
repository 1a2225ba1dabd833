"""Entries, as the API shows them (RFC-0015 §1)."""

from typing import Annotated, Literal, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.types import (
    VALUE,
    Count,
    JsonObject,
    PagePosition,
    Timestamp,
    UncountedPosition,
    Version,
)
from functions.entries.model import Entry, Priority
from functions.entries.summary import Summary
from functions.entries.tiers import Tier
from functions.platform.clock import to_optional_rfc3339, to_rfc3339
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import TTL_PATTERN
from functions.search.service import Match

_KB = 1024


class EntryScopeDocument(TypedDict):
    """The task and intent that an entry belongs to."""

    task_id: NotRequired[str]
    intent_id: NotRequired[str]


class EntryDocument(TypedDict):
    """An entry of memory."""

    id: Annotated[str, Field(pattern="^mem_")]
    agent_id: str
    """The owner."""
    namespace: str
    """The group that the entry belongs to, such as `billing.invoices`."""
    key: str
    """The entry's name within its namespace."""
    value: NotRequired[Annotated[JsonObject, VALUE]]
    """Your JSON object. Absent without `memory.read`, and with `values=omit`."""
    memory_type: Tier
    """The tier: it decides on lifetime and access."""
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
    """When the content happened: as the entry says, else when it was created."""
    expires_at: Timestamp | None
    """From this moment on it is gone, as if it had never been."""
    created_by: str
    curated_by: NotRequired[str]
    """Semantic only: who wrote it last."""
    vector_length: NotRequired[Count]
    """How many numbers the vector has that its client gave it; absent if there is none."""
    vector: NotRequired[list[float]]
    """The vector that its client gave it, of length 1; only where it is asked for."""
    inherited: NotRequired[bool]
    """True for an entry of the parent's that a query shows by its sub-task."""


class EntryPageDocument(PagePosition):
    """A page of entries."""

    entries: list[EntryDocument]


class EvictionCandidateDocument(EntryDocument):
    """An entry that may be evicted, without its value."""

    last_accessed_at: Timestamp
    """When its owner last wrote it, or read it as far as that is recorded."""


class EvictionOrderDocument(UncountedPosition):
    """A page of an agent's episodic entries, in the order in which they are evicted."""

    entries: list[EvictionCandidateDocument]
    hidden: NotRequired[Literal[True]]
    """With an empty list: the caller may not read what is in it."""


class EntryBatchDocument(TypedDict):
    """The entries of a batch, in its order."""

    entries: list[EntryDocument]


class DeletedDocument(TypedDict):
    """How many entries were deleted."""

    deleted: Count


class SearchResultDocument(TypedDict):
    """An entry that a search found."""

    entry: EntryDocument
    score: float
    """How well it fits: 1 for the query's own words; below about 0.2 it rather doesn't. Of a
    vector, the cosine."""
    matched: list[str]
    """The words and ids of the query that it has, without case and accents."""


class SearchResultsDocument(TypedDict):
    """What a search found, best first."""

    results: list[SearchResultDocument]


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


class SummaryDocument(TypedDict):
    """An agent's memory in figures."""

    agent_id: str
    working: WorkingSummaryDocument
    episodic: EpisodicSummaryDocument
    semantic_namespaces_accessible: list[str]


def render_entry(entry: Entry, *, has_value: bool = True) -> EntryDocument:
    """Render an entry; its value, if any, is copied as it is stored, and never parsed."""
    scope: EntryScopeDocument = {}
    if entry.task_id is not None:
        scope["task_id"] = entry.task_id
    if entry.intent_id is not None:
        scope["intent_id"] = entry.intent_id
    document: EntryDocument = {
        "id": entry.id,
        "agent_id": entry.agent_id,
        "namespace": entry.namespace,
        "key": entry.key,
        "memory_type": entry.memory_type,
        "scope": scope,
        "tags": entry.tags,
        "ttl": entry.ttl,
        "pinned": entry.pinned,
        "priority": entry.priority,
        "sensitivity": entry.sensitivity,
        "version": entry.version,
        "created_at": to_rfc3339(entry.created_at),
        "updated_at": to_rfc3339(entry.updated_at),
        "occurred_at": to_rfc3339(
            entry.created_at if entry.occurred_at is None else entry.occurred_at
        ),
        "expires_at": None if entry.expires_at is None else to_rfc3339(entry.expires_at),
        "created_by": entry.created_by,
    }
    if has_value:
        document["value"] = orjson.Fragment(entry.value)
    if entry.curated_by is not None:
        document["curated_by"] = entry.curated_by
    if entry.vector_length is not None:
        document["vector_length"] = entry.vector_length
    if entry.inherited:
        document["inherited"] = True
    return document


def render_eviction_candidate(entry: Entry) -> EvictionCandidateDocument:
    document = render_entry(entry, has_value=False)
    return {**document, "last_accessed_at": to_rfc3339(entry.last_accessed_at)}


def render_search_result(match: Match, *, has_value: bool) -> SearchResultDocument:
    entry = render_entry(match.entry, has_value=has_value)
    return {"entry": entry, "score": match.score, "matched": match.matched}


def render_summary(summary: Summary) -> SummaryDocument:
    """Render an agent's memory in figures (RFC-0015 "Agent Memory Summary")."""
    return {
        "agent_id": summary.agent_id,
        "working": {
            "entry_count": summary.working,
            "total_size_kb": -(-summary.working_bytes // _KB),
            "tasks_with_memory": summary.tasks,
        },
        "episodic": {
            "entry_count": summary.episodic,
            "capacity": summary.capacity,
            "pinned_count": summary.pinned,
            "total_size_kb": -(-summary.episodic_bytes // _KB),
            "oldest_entry": to_optional_rfc3339(summary.oldest),
            "newest_entry": to_optional_rfc3339(summary.newest),
        },
        "semantic_namespaces_accessible": summary.namespaces,
    }

"""Keyword arguments of calls.

Generated from the service's OpenAPI document; do not edit.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, TypedDict

from agent_memory.model.literals import (
    Priority,
    Sensitivity,
    TaskStatus,
)


class EntryFields(TypedDict, total=False):
    """Fields of an entry; the others stay unchanged."""

    expires_at: str | datetime | None
    occurred_at: str | datetime | None
    pinned: bool
    priority: Priority
    sensitivity: Sensitivity | None
    tags: Iterable[str]
    ttl: str | float | timedelta | None
    vector: Iterable[float] | None


class MemoryPolicyFields(TypedDict, total=False):
    """Fields of a task's memory policy."""

    archive_on_completion: bool
    inherit_from_parent: bool
    max_entries: int
    max_total_size_kb: int


class TaskFields(TypedDict, total=False):
    """Fields of a new task."""

    artifacts: Iterable[Any] | None
    assigned_agent: str | None
    attempt: int | None
    blocked_reason: str | None
    blocks: Iterable[str] | None
    capabilities_required: Iterable[str] | None
    coordinator: str | None
    delegates: Iterable[str] | None
    depends_on: Iterable[str] | None
    description: str | None
    error: Any
    id: str | None
    input: Any
    lease_id: str | None
    max_attempts: int | None
    memory_policy: MemoryPolicyFields | None
    metadata: dict[str, Any] | None
    name: str | None
    output: Any
    parent_task_id: str | None
    permissions: Any
    plan_id: str | None
    priority: str | int | None
    requires_tools: Iterable[Any] | None
    retry_policy: Any
    semantic_namespaces: Iterable[str] | None
    status: TaskStatus
    timeout_seconds: float | None


class TaskChanges(TypedDict, total=False):
    """Fields of a task; the others stay unchanged."""

    artifacts: Iterable[Any] | None
    assigned_agent: str | None
    attempt: int | None
    blocked_reason: str | None
    blocks: Iterable[str] | None
    capabilities_required: Iterable[str] | None
    coordinator: str | None
    delegates: Iterable[str] | None
    depends_on: Iterable[str] | None
    description: str | None
    error: Any
    input: Any
    lease_id: str | None
    max_attempts: int | None
    memory_policy: MemoryPolicyFields | None
    metadata: dict[str, Any] | None
    name: str | None
    note: str | None
    output: Any
    permissions: Any
    plan_id: str | None
    priority: str | int | None
    requires_tools: Iterable[Any] | None
    retry_policy: Any
    semantic_namespaces: Iterable[str] | None
    status: TaskStatus | None
    timeout_seconds: float | None


class ConversationFields(TypedDict, total=False):
    """Fields of a conversation."""

    agent_participants: Iterable[str]
    expires_at: str | datetime | None
    learn: bool | None
    metadata: dict[str, Any]
    searchable: bool | None
    sensitivity: Sensitivity | None
    shared_with: Iterable[str]
    tags: Iterable[str]
    ttl: str | float | timedelta | None
    version: str


class LearnedStats(TypedDict, total=False):
    """The measured results of a workflow; all fields are required."""

    alpha: float
    beta: float
    outcomes: int


class LimitChanges(TypedDict, total=False):
    """Limits of a tenant to change; None removes one, and the others stay."""

    bytes: int | None
    deletions_per_day: int | None
    items: int | None
    model_tokens_per_day: int | None
    requests_per_second: int | None


class GuardrailChanges(TypedDict, total=False):
    """Guardrails to change; None removes one, and the others stay."""

    allowed_semantic_namespaces: Iterable[str] | None
    delegates: Iterable[str] | None
    denied_semantic_namespaces: Iterable[str] | None
    max_episodic_memory_per_agent: int | None
    max_working_memory_per_task: int | None
    memory_archive_required: bool | None

"""Tasks (RFC-0012; RFC-0015 §5), and results of workflow files.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.entries import Entry
from agent_memory.model.literals import NamespaceAccess, TaskStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPolicy(Model):
    """The limits and rules of a task's working memory.

    Attributes:
        archive_on_completion: True if its memory is archived when it ends.
        inherit_from_parent: True if its assignee reads the parent's memory.
    """

    archive_on_completion: bool
    inherit_from_parent: bool
    max_entries: int
    max_total_size_kb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Model):
    """A task (RFC-0012; RFC-0015 §5).

    Attributes:
        assigned_agent: The principal that works on the task, and writes its working memory.
        coordinator: The principal that directs the task; not an agent.
        delegates: Agents for which the assignee may register sub-tasks, and to which it may
            hand the task over; `*` is all.
        hand_over_note: The note of the last hand-over.
        parent_task_id: The task that this is a part of.
        memory_policy: The policy of the task's working memory.
        version: Counts the changes; send it as If-Match.
        description: Absent without `memory.read`.
        input: Absent without `memory.read`.
        output: Absent without `memory.read`.
        artifacts: Absent without `memory.read`.
        blocked_reason: Absent without `memory.read`.
        error: Absent without `memory.read`.
        metadata: Absent without `memory.read`.
        semantic_namespaces: The semantic memory to pack for the task.
    """

    id: str
    intent_id: str | None = None
    name: str
    status: TaskStatus
    assigned_agent: str | None = None
    coordinator: str | None = None
    delegates: tuple[str, ...]
    hand_over_note: str | None = None
    parent_task_id: str | None = None
    memory_policy: MemoryPolicy
    version: int
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    plan_id: str | None = None
    description: str | None = None
    priority: str | int | None = None
    input: Any = None
    output: Any = None
    artifacts: tuple[Any, ...] = ()
    lease_id: str | None = None
    capabilities_required: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    retry_policy: Any = None
    timeout_seconds: float | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    permissions: Any = None
    requires_tools: tuple[Any, ...] = ()
    blocked_reason: str | None = None
    error: Any = None
    metadata: dict[str, Any] | None = None
    semantic_namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext(Model):
    """A task's memory, packed for a context window.

    Attributes:
        hand_over_note: The note of the former assignee for its successor.
        size_kb: The entries' size as JSON.
        truncated: True if entries were omitted because of the size.
    """

    task_id: str
    hand_over_note: str | None = None
    working: tuple[Entry, ...]
    inherited: tuple[Entry, ...]
    episodic: tuple[Entry, ...]
    semantic: tuple[Entry, ...]
    size_kb: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedNamespace(Model):
    """A namespace that a workflow named.

    Attributes:
        access: The caller's access. If others have configured the namespace, it may be less
            than `write`.
    """

    namespace: str
    access: NamespaceAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEpisodic(Model):
    """Episodic settings that a workflow set for an agent."""

    capacity: int | None = None
    pinned_namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedAgent(Model):
    """An agent that a workflow named."""

    agent_id: str
    episodic: AppliedEpisodic


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedTask(Model):
    """A task that a workflow registered."""

    id: str
    name: str
    assigned_agent: str | None = None
    depends_on: tuple[str, ...]
    memory_policy: MemoryPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedWorkflow(Model):
    """The result of applying a workflow file."""

    name: str
    version: str | None = None
    intent_id: str
    semantic_namespaces: tuple[str, ...]
    namespaces: tuple[AppliedNamespace, ...]
    agents: tuple[AppliedAgent, ...]
    tasks: tuple[AppliedTask, ...]
    ignored: tuple[str, ...]

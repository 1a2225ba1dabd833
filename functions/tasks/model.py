"""Tasks, intents and grants, and what is asked about them."""

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from functions.platform.fields import AgentId, Identifier, Moment, Name

Status = Literal[
    "pending",
    "ready",
    "claimed",
    "running",
    "blocked",
    "completed",
    "failed",
    "cancelled",
    "skipped",
]
GrantAccess = Literal["read", "write"]

ENDED = frozenset({"completed", "failed", "cancelled", "skipped"})
RESULTS = frozenset({"status", "output", "error", "artifacts", "blocked_reason"})
"""What an assignee reports; everything else is the coordinator's to change."""


class MemoryPolicy(BaseModel):
    """`memory_policy` of a task (RFC-0015 §6.5)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    archive_on_completion: bool = True
    inherit_from_parent: bool = False
    max_entries: int = Field(default=100, ge=0, le=1_000_000)
    max_total_size_kb: int = Field(default=1024, ge=0, le=1_000_000_000)


class _TaskFields(BaseModel):
    """The fields that are kept as they are given: those of RFC-0012 tasks that memory doesn't use,
    and the namespaces that belong to the task's context (RFC-0015 §7)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = Field(default=None, max_length=1000)
    plan_id: str | None = None
    description: str | None = None
    priority: str | int | None = None
    input: Any = None
    output: Any = None
    artifacts: list[Any] | None = None
    lease_id: str | None = None
    capabilities_required: list[str] | None = None
    depends_on: list[str] | None = None
    blocks: list[str] | None = None
    retry_policy: Any = None
    timeout_seconds: float | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    permissions: Any = None
    requires_tools: list[Any] | None = None
    blocked_reason: str | None = None
    error: Any = None
    metadata: dict[str, Any] | None = None
    semantic_namespaces: list[Name] | None = Field(default=None, max_length=100)


class NewTask(_TaskFields):
    """Body of `POST /api/v1/tasks`."""

    intent_id: Identifier
    id: Identifier | None = None
    status: Status = "pending"
    assigned_agent: AgentId | None = None
    coordinator: AgentId | None = None
    parent_task_id: Identifier | None = None
    memory_policy: MemoryPolicy | None = None


class TaskChange(_TaskFields):
    """Body of `PATCH /api/v1/tasks/{id}`."""

    status: Status | None = None
    assigned_agent: AgentId | None = None
    memory_policy: MemoryPolicy | None = None


KEPT = frozenset(_TaskFields.model_fields)


class NewGrant(BaseModel):
    """Body of `PUT /api/v1/tasks/{id}/grants/{principal}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    access: GrantAccess
    expires_at: Moment | None = None


class AclEntry(BaseModel):
    """One line of an intent's access list."""

    model_config = ConfigDict(extra="forbid", strict=True)

    principal: AgentId
    access: GrantAccess


class Acl(BaseModel):
    """Body of `PUT /api/v1/intents/{id}/acl`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    entries: list[AclEntry] = Field(max_length=500)


@dataclass(frozen=True, slots=True)
class Grant:
    """Somebody's access to a task's working memory, until `expires` (epoch ms)."""

    principal: str
    access: GrantAccess
    expires: int


@dataclass(frozen=True, slots=True)
class Task:
    """A task as stored; times are epoch ms, sizes whole KB."""

    id: str
    intent: str | None
    status: Status
    version: int
    created: int
    updated: int
    policy: MemoryPolicy
    assignee: str | None = None
    coordinator: str | None = None
    parent: str | None = None
    started: int | None = None
    ended: int | None = None
    archived: int | None = None  # when its memory had been archived or removed
    held: int = 0  # working entries
    attached: int = 0  # entries of other tiers that end with it
    joined: frozenset[str] = frozenset()  # agents that have the task in their task set
    by_write: bool = False  # registered by a write to a task that nobody had registered
    room: int = 0  # entries that still fit
    cap: int | None = None  # the most entries that its coordinator's guardrails let it have
    must_archive: bool = False  # whether they have its memory archived
    room_kb: int = 0
    parties: frozenset[str] = frozenset()  # who takes or took part
    heirs: frozenset[str] = frozenset()  # sub-tasks that inherit
    grants: tuple[Grant, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict)
    request: bytes | None = None

    @property
    def archives(self) -> bool:
        """Whether its working memory is archived when it ends (RFC-0015 §6.5, §6.6)."""
        return self.policy.archive_on_completion or self.must_archive

    @property
    def most_entries(self) -> int:
        """How many working entries it may hold (RFC-0015 §6.5, §6.6)."""
        most = self.policy.max_entries
        return most if self.cap is None else min(most, self.cap)


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent: its owner, who takes or took part in its tasks, and its access list."""

    id: str
    owner: str
    parties: frozenset[str]
    acl: dict[str, GrantAccess]
    version: int

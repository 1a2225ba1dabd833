"""Bodies of requests about tasks, intents and guardrails (contract §5, RFC-0015 §6.5, §6.6)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from functions.platform.fields import AgentId, Identifier, Moment, Name
from functions.platform.limits import (
    MAX_ACL_ENTRIES,
    MAX_EPISODIC_ENTRIES,
    MAX_LISTED_NAMESPACES,
    MAX_TASK_ENTRIES,
    MAX_TASK_KB,
    MAX_TASK_NAME_CHARACTERS,
)
from functions.tasks.model import GrantAccess, Policy, Status

_POLICY = Policy()


class MemoryPolicy(BaseModel):
    """`memory_policy` of a task (RFC-0015 §6.5)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    archive_on_completion: bool = _POLICY.archive_on_completion
    inherit_from_parent: bool = _POLICY.inherit_from_parent
    max_entries: int = Field(default=_POLICY.max_entries, ge=0, le=MAX_TASK_ENTRIES)
    max_total_size_kb: int = Field(default=_POLICY.max_total_size_kb, ge=0, le=MAX_TASK_KB)

    @property
    def policy(self) -> Policy:
        """With what isn't given as it is by default."""
        return Policy(**self.model_dump())


class _TaskFields(BaseModel):
    """The fields that are kept as they are given: those of RFC-0012 tasks that memory doesn't use,
    and the namespaces that belong to the task's context (RFC-0015 §7)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = Field(default=None, max_length=MAX_TASK_NAME_CHARACTERS)
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
    semantic_namespaces: list[Name] | None = Field(default=None, max_length=MAX_LISTED_NAMESPACES)

    @property
    def kept(self) -> dict[str, Any]:
        """Those that are given."""
        return self.model_dump(include=set(KEPT), exclude_unset=True)


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

    entries: list[AclEntry] = Field(max_length=MAX_ACL_ENTRIES)


class Guardrails(BaseModel):
    """`guardrails` of a coordinator: only the given fields change; null takes one away."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    max_working_memory_per_task: int | None = Field(default=None, ge=0, le=MAX_TASK_ENTRIES)
    max_episodic_memory_per_agent: int | None = Field(default=None, ge=0, le=MAX_EPISODIC_ENTRIES)
    allowed_semantic_namespaces: list[Name] | None = Field(
        default=None, max_length=MAX_LISTED_NAMESPACES
    )
    denied_semantic_namespaces: list[Name] | None = Field(
        default=None, max_length=MAX_LISTED_NAMESPACES
    )
    memory_archive_required: bool | None = None


class GuardrailsChange(BaseModel):
    """Body of `PATCH /api/v1/coordinators/{coordinator_id}/guardrails`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    guardrails: Guardrails

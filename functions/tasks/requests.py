"""Bodies of requests about tasks, intents and guardrails (RFC-0015 §6.5, §6.6)."""

import re
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from functions.platform import limits
from functions.platform.validation import (
    AgentId,
    ChangeModel,
    Identifier,
    Name,
    RequestModel,
    Timestamp,
)
from functions.tasks.model import GrantAccess, Policy, Status

_POLICY = Policy()
_OF_MEMORY = re.compile("memory|namespace")
Delegates = Annotated[list[AgentId], Field(max_length=limits.MAX_DELEGATES)]
"""Ids of agents, or `*` for all."""


class MemoryPolicy(RequestModel):
    """`memory_policy` of a task (RFC-0015 §6.5)."""

    model_config = ConfigDict(frozen=True)

    archive_on_completion: bool = _POLICY.archive_on_completion
    """True if its memory is archived when it ends."""
    inherit_from_parent: bool = _POLICY.inherit_from_parent
    """True if its assignee reads the parent's memory."""
    max_entries: int = Field(default=_POLICY.max_entries, ge=0, le=limits.MAX_TASK_ENTRIES)
    max_total_size_kb: int = Field(default=_POLICY.max_total_size_kb, ge=0, le=limits.MAX_TASK_KB)

    @property
    def policy(self) -> Policy:
        """Return the settings with the defaults of omitted fields."""
        return Policy(**self.model_dump())


class PlannedFields(RequestModel):
    """The fields of RFC-0012 tasks that memory doesn't use, and that a workflow may plan."""

    description: str | None = None
    priority: str | int | None = None
    input: Any = None
    capabilities_required: list[str] | None = None
    retry_policy: Any = None
    timeout_seconds: float | None = None
    max_attempts: int | None = None
    permissions: Any = None
    requires_tools: list[Any] | None = None


class _TaskFields(PlannedFields):
    """The fields that are stored as given: those of RFC-0012 tasks that memory doesn't use, and the
    namespaces that belong to the task's context (RFC-0015 §7)."""

    name: str | None = Field(default=None, max_length=limits.MAX_TASK_NAME_CHARACTERS)
    plan_id: str | None = None
    output: Any = None
    artifacts: list[Any] | None = None
    lease_id: str | None = None
    depends_on: list[str] | None = None
    blocks: list[str] | None = None
    attempt: int | None = None
    blocked_reason: str | None = None
    error: Any = None
    metadata: dict[str, Any] | None = None
    semantic_namespaces: list[Name] | None = Field(
        default=None, max_length=limits.MAX_LISTED_NAMESPACES
    )
    """The semantic memory to pack for the task."""


EXTRA_FIELDS = frozenset(_TaskFields.model_fields)


class NewTask(_TaskFields):
    """Body of `POST /api/v1/tasks`."""

    intent_id: Identifier
    id: Identifier | None = None
    """Your own id for the task; by default, the service creates one."""
    status: Status = "pending"
    assigned_agent: AgentId | None = None
    """The principal that works on the task, and writes its working memory."""
    coordinator: AgentId | None = None
    """The principal that directs the task; not an agent."""
    delegates: Delegates | None = None
    """Agents for which the assignee may register sub-tasks, and to which it may hand the task over;
    `*` is all."""
    parent_task_id: Identifier | None = None
    """The task that this is a part of."""
    memory_policy: MemoryPolicy | None = None
    """The policy of the task's working memory."""

    @model_validator(mode="before")
    @classmethod
    def _take_task_id(cls, document: Any) -> Any:
        """Accept the id under its name in RFC-0015 §6.5, too."""
        if not isinstance(document, dict) or "id" in document or "task_id" not in document:
            return document
        return {"id" if name == "task_id" else name: each for name, each in document.items()}


class TaskChange(_TaskFields, ChangeModel):
    """Body of `PATCH /api/v1/tasks/{id}`: only the given fields change."""

    task_id: Identifier | None = None
    """The id in the path, as RFC-0015 §6.5 repeats it."""
    status: Status | None = None
    assigned_agent: AgentId | None = None
    """The principal that works on the task, and writes its working memory."""
    coordinator: AgentId | None = None
    """The principal that directs the task from now on; not an agent."""
    note: Annotated[str, Field(min_length=1, max_length=limits.MAX_NOTE_CHARACTERS)] | None = None
    """With `assigned_agent`: a note for the next assignee."""
    delegates: Delegates | None = None
    """Agents for which the assignee may register sub-tasks, and to which it may hand the task over;
    `*` is all."""
    memory_policy: MemoryPolicy | None = None
    """The policy of the task's working memory."""


class NewGrant(RequestModel):
    """Body of `PUT /api/v1/tasks/{id}/grants/{principal}`."""

    access: GrantAccess
    expires_at: Timestamp | None = None
    """The time when the grant ends."""


class AclEntry(RequestModel):
    """One line of an intent's access list."""

    principal: AgentId
    access: GrantAccess


class Acl(RequestModel):
    """Body of `PUT /api/v1/intents/{id}/acl`, which replaces the list."""

    entries: list[AclEntry] = Field(max_length=limits.MAX_ACL_ENTRIES)


class NewOwner(RequestModel):
    """Body of `PUT /api/v1/intents/{id}/owner`."""

    principal: AgentId
    """A coordinator or user."""


class Guardrails(ChangeModel):
    """`guardrails` of a coordinator: only the given fields change; null removes one.

    Other guardrails of RFC-0013 are kept as given.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    max_working_memory_per_task: int | None = Field(default=None, ge=0, le=limits.MAX_TASK_ENTRIES)
    """The maximum number of working entries of a task. A task's policy can't raise it."""
    max_episodic_memory_per_agent: int | None = Field(
        default=None, ge=0, le=limits.MAX_EPISODIC_ENTRIES
    )
    """The maximum number of an agent's entries, even if its settings allow more."""
    allowed_semantic_namespaces: list[Name] | None = Field(
        default=None, max_length=limits.MAX_LISTED_NAMESPACES
    )
    """The coordinator and its assignees can access semantic memory only in these. A name that ends
    with `*` is a prefix."""
    denied_semantic_namespaces: list[Name] | None = Field(
        default=None, max_length=limits.MAX_LISTED_NAMESPACES
    )
    """They can't access semantic memory in these, even if it is allowed."""
    memory_archive_required: bool | None = None
    """Memory is archived when a task ends, even if its policy does not ask for it."""
    delegates: Delegates | None = None
    """The `delegates` of the coordinator's new tasks that name none."""

    @model_validator(mode="after")
    def _assert_known(self) -> Self:
        unknown = [name for name in self.model_extra or () if _OF_MEMORY.search(name)]
        if unknown:
            raise ValueError(f"{min(unknown)} is not a guardrail of memory")
        return self


class GuardrailsChange(RequestModel):
    """Body of `PATCH /api/v1/coordinators/{coordinator_id}/guardrails`."""

    guardrails: Guardrails

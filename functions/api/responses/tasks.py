"""Documents of tasks, contexts and workflows."""

from typing import Annotated, Any, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from functions.api.documents import VALUE, Count, Timestamp, Version, to_document
from functions.api.responses.entries import EntryDocument
from functions.namespaces.model import Access
from functions.platform.json_text import dumps
from functions.tasks.model import Status, Task
from functions.workflows.rules import Application


class MemoryPolicyDocument(TypedDict):
    """The policy of a task's working memory (RFC-0015 §6.5)."""

    archive_on_completion: bool
    """True if its memory is archived when it ends."""
    inherit_from_parent: bool
    """True if its assignee reads the parent's memory."""
    max_entries: Count
    max_total_size_kb: Count


class TaskDocument(TypedDict):
    """A task. Fields that memory doesn't use are returned if they were given."""

    id: str
    intent_id: str | None
    name: str
    status: Status
    assigned_agent: str | None
    """The principal that works on the task, and writes its working memory."""
    coordinator: str | None
    """The principal that directs the task; not an agent."""
    delegates: list[str]
    """Agents for which the assignee may register sub-tasks, and to which it may hand the task over;
    `*` is all."""
    hand_over_note: str | None
    """The note of the last hand-over."""
    parent_task_id: str | None
    """The task that this is a part of."""
    memory_policy: MemoryPolicyDocument
    """The policy of the task's working memory."""
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp
    started_at: Timestamp | None
    completed_at: Timestamp | None
    plan_id: NotRequired[str | None]
    description: NotRequired[Annotated[str | None, VALUE]]
    priority: NotRequired[str | int | None]
    input: NotRequired[Annotated[Any, VALUE]]
    output: NotRequired[Annotated[Any, VALUE]]
    artifacts: NotRequired[Annotated[list[Any] | None, VALUE]]
    lease_id: NotRequired[str | None]
    capabilities_required: NotRequired[list[str] | None]
    depends_on: NotRequired[list[str] | None]
    blocks: NotRequired[list[str] | None]
    retry_policy: NotRequired[Any]
    timeout_seconds: NotRequired[float | None]
    attempt: NotRequired[int | None]
    max_attempts: NotRequired[int | None]
    permissions: NotRequired[Any]
    requires_tools: NotRequired[list[Any] | None]
    blocked_reason: NotRequired[Annotated[str | None, VALUE]]
    error: NotRequired[Annotated[Any, VALUE]]
    metadata: NotRequired[Annotated[dict[str, Any] | None, VALUE]]
    semantic_namespaces: NotRequired[list[str] | None]
    """The semantic memory to pack for the task."""


class TaskContextDocument(TypedDict):
    """The memory that belongs to a task, packed."""

    task_id: str
    hand_over_note: str | None
    """The note of the former assignee for its successor."""
    working: list[EntryDocument]
    inherited: list[EntryDocument]
    episodic: list[EntryDocument]
    semantic: list[EntryDocument]
    size_kb: Count
    """The entries' size as JSON."""
    truncated: bool
    """True if entries were omitted because of the size."""


class AppliedEpisodicDocument(TypedDict):
    """The settings of episodic memory that a workflow set; null was left unchanged."""

    capacity: Version | None
    pinned_namespaces: list[str] | None


class AppliedAgentDocument(TypedDict):
    """An agent of a workflow."""

    agent_id: str
    episodic: AppliedEpisodicDocument


class AppliedTaskDocument(TypedDict):
    """A task of a workflow's plan."""

    id: str
    name: str
    assigned_agent: str | None
    depends_on: list[str]
    memory_policy: MemoryPolicyDocument


class AppliedNamespaceDocument(TypedDict):
    """A namespace that a workflow declares."""

    namespace: str
    access: Access
    """The caller's access. If others have configured the namespace, it may be less than `write`."""


class AppliedWorkflowDocument(TypedDict):
    """The result of applying a workflow."""

    name: str
    version: str | None
    intent_id: str
    semantic_namespaces: list[str]
    namespaces: list[AppliedNamespaceDocument]
    agents: list[AppliedAgentDocument]
    tasks: list[AppliedTaskDocument]
    ignored: list[str]


def render_task(task: Task) -> TaskDocument:
    """Render a task; fields of RFC-0012 that memory doesn't use are copied."""
    policy = task.memory_policy._asdict()
    document = to_document(task, TaskDocument, name=task.id, memory_policy=policy)
    extra = {name: orjson.Fragment(dumps(value)) for name, value in task.extra_fields.items()}
    return cast("TaskDocument", document | extra)


_NOTHING_SET = dict.fromkeys(AppliedEpisodicDocument.__annotations__)


def render_applied_workflow(
    applied: Application, access: dict[str, Access]
) -> AppliedWorkflowDocument:
    """Render an applied workflow (RFC-0015 §7), with the caller's access to its namespaces."""
    return to_document(
        applied,
        AppliedWorkflowDocument,
        namespaces=[{"namespace": name, "access": each} for name, each in access.items()],
        agents=[
            {"agent_id": agent, "episodic": _NOTHING_SET | each.model_dump(exclude_unset=True)}
            for agent, each in applied.agents.items()
        ],
        tasks=[
            to_document(each, AppliedTaskDocument, memory_policy=each.memory_policy._asdict())
            for each in applied.tasks
        ],
    )

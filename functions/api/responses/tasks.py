"""Documents of tasks and contexts."""

from typing import Annotated, Any, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from functions.api.documents import VALUE, Count, Timestamp, Version, to_document
from functions.api.responses.entries import EntryDocument
from functions.platform.json_text import dumps
from functions.tasks.model import Status, Task


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


def render_task(task: Task) -> TaskDocument:
    """Render a task; fields of RFC-0012 that memory doesn't use are copied."""
    policy = task.memory_policy._asdict()
    document = to_document(task, TaskDocument, name=task.id, memory_policy=policy)
    extra = {name: orjson.Fragment(dumps(value)) for name, value in task.extra_fields.items()}
    return cast("TaskDocument", document | extra)

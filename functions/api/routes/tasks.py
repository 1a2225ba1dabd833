"""Tasks, the memory that belongs to a task, and workflows that register tasks (contract §5)."""

from collections.abc import Iterable
from typing import Any, get_args
from urllib.parse import quote

import orjson

from functions.api.documents import (
    Document,
    entry_document,
    task_document,
)
from functions.api.filters import tags_of
from functions.api.governing_documents import workflow_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import PAGE, cut, limits, number, position, single
from functions.api.routing import Route
from functions.entries.context import Section
from functions.entries.model import Entry
from functions.identity.model import ADMIN, READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import (
    DEFAULT_CONTEXT_EPISODES,
    DEFAULT_CONTEXT_KB,
    MAX_CONTEXT_EPISODES,
    MAX_CONTEXT_KB,
)
from functions.tasks.model import Status, Task
from functions.tasks.requests import NewTask, TaskChange
from functions.workflows.requests import Workflow

_KB = 1024
_TASKS = "/api/v1/tasks"


def get_task_context(request: Request, caller: Principal) -> Response:
    episodic = number(request, "episodic_limit", DEFAULT_CONTEXT_EPISODES, 0, MAX_CONTEXT_EPISODES)
    most = number(request, "max_kb", DEFAULT_CONTEXT_KB, 1, MAX_CONTEXT_KB)
    task_id = request.path_params["task_id"]
    found = request.services.contexts.find(caller, task_id, episodic, tags_of(request, "tags"))
    return json_response(200, {"task_id": task_id} | _packed(found, most * _KB))


def _packed(found: Iterable[tuple[Section, Entry]], room: int) -> Document:
    """As much as `room` bytes hold; what doesn't fit ends the packing."""
    packed: dict[str, list[Any]] = {
        "working": [],
        "inherited": [],
        "episodic": [],
        "semantic": [],
    }
    size = 0
    truncated = False
    for section, entry in found:
        text = orjson.dumps(entry_document(entry))
        if size + len(text) > room:
            truncated = True
            break
        size += len(text)
        packed[section].append(orjson.Fragment(text))
    return packed | {"size_kb": -(-size // _KB), "truncated": truncated}


def get_task(request: Request, caller: Principal) -> Response:
    return _task_response(200, request.services.tasks.get(caller, request.path_params["task_id"]))


def list_intent_tasks(request: Request, caller: Principal) -> Response:
    return _listed(
        request, request.services.tasks.of_intent(caller, request.path_params["intent_id"])
    )


def list_agent_tasks(request: Request, caller: Principal) -> Response:
    return _listed(
        request, request.services.tasks.of_agent(caller, request.path_params["agent_id"])
    )


def _listed(request: Request, tasks: list[Task]) -> Response:
    limit, offset = limits(request)
    status = single(request, "status")
    if status is not None and status not in get_args(Status):
        raise ValidationFailed("status", f"is one of {', '.join(get_args(Status))}")
    matching = [task for task in tasks if status in (None, task.status)]
    page = cut(map(task_document, matching[offset : offset + limit]))
    return json_response(200, page, **position(len(matching), offset, len(page)))


def _task_response(status: int, task: Task, **headers: str) -> Response:
    """Render a response that shows a task."""
    return json_response(status, task_document(task), etag=f'"{task.version}"', **headers)


def register_task(request: Request, caller: Principal) -> Response:
    task = request.services.tasks.register(
        caller, request.parse_body(NewTask), request.idempotency_token(caller)
    )
    return _task_response(201, task, location=f"{_TASKS}/{quote(task.id, safe='')}")


def change_task(request: Request, caller: Principal) -> Response:
    task = request.services.tasks.change(
        caller,
        request.path_params["task_id"],
        request.required_if_match,
        request.parse_body(TaskChange),
        request.idempotency_token(caller),
    )
    return _task_response(200, task)


def apply_workflow(request: Request, caller: Principal) -> Response:
    from functions.workflows.text import read_workflow  # noqa: PLC0415 - no cold start waits for it

    workflow = read_workflow(request.body, request.headers.get("content-type", "").lower())
    applied = request.services.workflows.apply(caller, workflow, request.idempotency_token(caller))
    return json_response(200, workflow_document(applied))


ROUTES = [
    Route(
        "GET",
        "/api/v1/tasks/{task_id+}/context",
        get_task_context,
        READ,
        "Get the memory that belongs to a task, packed",
        {200: "Context"},
        query=("episodic_limit", "tags", "max_kb"),
        error_statuses=(404,),
        description="For whoever may read the task's working memory. The episodes are the "
        "assignee's for its coordinator, else the caller's own; `tags` filters "
        "only them. The semantic entries are those of the task's "
        "`semantic_namespaces`, or else of the namespaces that its coordinator's "
        "guardrails allow. The first entry that doesn't fit into `max_kb` ends the "
        "list.",
    ),
    Route(
        "GET",
        f"{_TASKS}/{{task_id+}}",
        get_task,
        READ,
        "Get a task",
        {200: "Task"},
        error_statuses=(404,),
    ),
    Route(
        "GET",
        "/api/v1/intents/{intent_id+}/tasks",
        list_intent_tasks,
        READ,
        "List an intent's tasks, as a bare array",
        {200: "Tasks"},
        query=("status", *PAGE),
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/tasks",
        list_agent_tasks,
        READ,
        "List the open tasks assigned to an agent, as a bare array",
        {200: "Tasks"},
        query=("status", *PAGE),
        description="Those in which the caller has part; all of them with `memory.admin`.",
    ),
    Route(
        "POST",
        _TASKS,
        register_task,
        WRITE,
        "Register a task, or adopt one that a write registered",
        {201: "Task"},
        request_model=NewTask,
        error_statuses=(409, 413),
        idempotent=True,
    ),
    Route(
        "PATCH",
        f"{_TASKS}/{{task_id+}}",
        change_task,
        WRITE,
        "Change a task",
        {200: "Task"},
        request_model=TaskChange,
        error_statuses=(404, 409, 413, 428),
        if_match="required",
        idempotent=True,
        description="By its coordinator; its assignee sets status and results.",
    ),
    Route(
        "POST",
        "/api/v1/workflows",
        apply_workflow,
        ADMIN,
        "Apply a workflow's memory, agents and plan",
        {200: "AppliedWorkflow"},
        request_model=Workflow,
        media_types=("application/json", "application/yaml"),
        error_statuses=(409, 413),
        idempotent=True,
        description="For users and coordinators, who become the tasks' coordinator. The file "
        "that was applied last changes nothing and answers the same; a changed one "
        "changes what is there, ended tasks aside; another `version` makes tasks "
        "of its own. An error names its line.",
    ),
]

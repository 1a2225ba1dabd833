"""Tasks, and the memory that belongs to a task."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import orjson

from functions.api.http import Request, Response, json_response
from functions.api.paging import (
    BARE_ARRAY_HEADERS,
    bare_array_response,
    build_page,
    mark_hidden,
    read_page_request,
)
from functions.api.parameters import (
    ARRAY_LIMIT,
    ARRAY_PAGE,
    TAGS,
    TOUCH,
    VALUES,
    ChoiceParameter,
    IntegerParameter,
)
from functions.api.responses.entries import render_entry
from functions.api.responses.tasks import (
    TaskContextDocument,
    TaskDocument,
    render_task,
)
from functions.api.routing import WRITE_OR_ADMIN, RouteTable
from functions.entries.context import Section
from functions.entries.model import Entry
from functions.identity.model import READ, WRITE, Principal
from functions.platform import limits
from functions.tasks.authority import ADOPT_TASK, CHANGE_TASK, REGISTER_TASK
from functions.tasks.model import Status, Task
from functions.tasks.requests import NewTask, TaskChange

ROUTES = RouteTable()
_KB = 1024
_TASKS = "/api/v1/tasks"
_TASK = f"{_TASKS}/{{task_id+}}"
_STATUS: ChoiceParameter[Status] = ChoiceParameter("status", "Only tasks with this status.", Status)
_EPISODIC_LIMIT = IntegerParameter(
    "episodic_limit",
    "The maximum number of episodic entries.",
    0,
    limits.MAX_CONTEXT_EPISODES,
    limits.DEFAULT_CONTEXT_EPISODES,
)
_MAX_KB = IntegerParameter(
    "max_kb",
    "The maximum size of the packed entries, as JSON.",
    1,
    limits.MAX_CONTEXT_KB,
    limits.DEFAULT_CONTEXT_KB,
)


@ROUTES.add(
    "GET /api/v1/tasks/{task_id+}/context",
    READ,
    {200: TaskContextDocument},
    query=(_EPISODIC_LIMIT, TAGS, _MAX_KB, VALUES, TOUCH),
)
def get_task_context(request: Request, caller: Principal) -> Response:
    """Get the memory of a task, packed into a size.

    For readers of the task's working memory. The coordinator gets the assignee's episodes, and
    others get their own; `tags` filters only episodes. The semantic entries come from the task's
    `semantic_namespaces`, or else from the namespaces that its coordinator's guardrails allow. The
    list ends before the first entry that exceeds `max_kb`.
    """
    episodic, max_kb = _EPISODIC_LIMIT.read(request), _MAX_KB.read(request)
    task_id = request.path_params["task_id"]
    has_values, is_touched = VALUES.read(request) is None, TOUCH.read(request) is not False
    task, found = request.services.contexts.find(
        caller, task_id, episodic, TAGS.read(request), is_touched=is_touched
    )
    packed = _pack_context(task, found, max_kb * _KB, has_values=has_values)
    return json_response(200, packed)


@ROUTES.add(f"GET {_TASK}", READ, {200: TaskDocument})
def get_task(request: Request, caller: Principal) -> Response:
    """Get a task."""
    task = request.services.task_reader.get(caller, request.path_params["task_id"])
    return json_response(200, render_task(task), task.version)


@ROUTES.add(
    "GET /api/v1/intents/{intent_id+}/tasks",
    READ,
    {200: list[TaskDocument]},
    response_headers=BARE_ARRAY_HEADERS,
    error_statuses=(413,),
    query=(_STATUS, *ARRAY_PAGE),
)
def list_intent_tasks(request: Request, caller: Principal) -> Response:
    """List an intent's tasks, as a bare array."""
    intent_id, tasks = request.path_params["intent_id"], request.services.task_reader
    asked = read_page_request(request, caller, ARRAY_LIMIT)
    found = tasks.list_of_intent(caller, intent_id, _STATUS.read(request), asked.wanted)
    page, position = build_page(asked, found, render_task)
    position = mark_hidden(position, page, lambda: not tasks.may_read_intent(caller, intent_id))
    return bare_array_response(request, page, position, len(found.elements))


@ROUTES.add(
    "GET /api/v1/agents/{agent_id+}/tasks",
    READ,
    {200: list[TaskDocument]},
    response_headers=BARE_ARRAY_HEADERS,
    error_statuses=(413,),
    query=(_STATUS, *ARRAY_PAGE),
)
def list_agent_tasks(request: Request, caller: Principal) -> Response:
    """List the open tasks assigned to an agent, as a bare array.

    Lists tasks that you take part in; with `memory.admin`, all.
    """
    agent_id, tasks = request.path_params["agent_id"], request.services.task_reader
    asked = read_page_request(request, caller, ARRAY_LIMIT)
    found = tasks.list_of_agent(caller, agent_id, _STATUS.read(request), asked.wanted)
    page, position = build_page(asked, found, render_task)
    position = mark_hidden(position, page, lambda: not tasks.sees_all(caller, agent_id))
    return bare_array_response(request, page, position, len(found.elements))


@ROUTES.add(
    f"POST {_TASKS}",
    WRITE,
    {201: TaskDocument},
    idempotent=True,
    audited=(ADOPT_TASK, REGISTER_TASK),
)
def register_task(request: Request, caller: Principal, new: NewTask) -> Response:
    """Register a task, or adopt one that an agent registered."""
    token = request.idempotency_token(caller)
    task = request.services.tasks.register(caller, new, token)
    location = f"{_TASKS}/{quote(task.id, safe='')}"
    return json_response(201, render_task(task), task.version, location=location)


@ROUTES.add(
    f"PATCH {_TASK}",
    WRITE_OR_ADMIN,
    {200: TaskDocument},
    if_match="required",
    idempotent=True,
    audited=(CHANGE_TASK,),
)
def change_task(request: Request, caller: Principal, change: TaskChange) -> Response:
    """Change a task.

    For its coordinator; the assignee can change status and results. With `memory.admin`, a
    principal can cancel any task and change its assignee and coordinator.
    """
    task = request.services.tasks.change(
        caller,
        request.path_params["task_id"],
        request.required_if_match,
        change,
        request.idempotency_token(caller),
    )
    return json_response(200, render_task(task), task.version)


def _pack_context(
    task: Task, found: Iterable[tuple[Section, Entry]], max_bytes: int, *, has_values: bool
) -> TaskContextDocument:
    """Render entries up to `max_bytes`; stop before the first one that exceeds them.

    Omitted values count, too: the entries are the same as with values.
    """
    packed: dict[Section, list[Any]] = {
        "working": [],
        "inherited": [],
        "episodic": [],
        "semantic": [],
    }
    size = 0
    truncated = False
    for section, entry in found:
        text = orjson.dumps(render_entry(entry))
        if size + len(text) > max_bytes:
            truncated = True
            break
        size += len(text)
        if not has_values:
            text = orjson.dumps(render_entry(entry, has_value=False))
        packed[section].append(orjson.Fragment(text))
    return {
        "task_id": task.id,
        "hand_over_note": task.hand_over_note,
        "working": packed["working"],
        "inherited": packed["inherited"],
        "episodic": packed["episodic"],
        "semantic": packed["semantic"],
        "size_kb": -(-size // _KB),
        "truncated": truncated,
    }

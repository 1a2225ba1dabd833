"""Tasks, grants and intents (contract §5)."""

from typing import get_args
from urllib.parse import quote

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import grant_document, intent_document, task_document
from functions.api.paging import PAGE, cut, limits, position, single
from functions.api.parsing import parsed
from functions.api.rooms.governing import endings, grants
from functions.api.rooms.logs import intents
from functions.api.rooms.tasks import tasks
from functions.api.route import Route
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.tasks.bodies import Acl, NewGrant, NewTask, TaskChange
from functions.tasks.model import Status, Task

TASKS = "/api/v1/tasks"
_GRANT = f"{TASKS}/{{task_id+}}/grants/{{principal+}}"
_ACL = "/api/v1/intents/{intent_id+}/acl"


def register(call: Call, caller: Principal) -> Answer:
    task = call.use(endings).register(caller, parsed(call, NewTask), call.token(caller))
    return _task_answer(201, task, location=f"{TASKS}/{quote(task.id, safe='')}")


def get(call: Call, caller: Principal) -> Answer:
    return _task_answer(200, call.use(tasks).get(caller, call.names["task_id"]))


def change(call: Call, caller: Principal) -> Answer:
    task = call.use(endings).change(
        caller,
        call.names["task_id"],
        call.required_version,
        parsed(call, TaskChange),
        call.token(caller),
    )
    return _task_answer(200, task)


def of_intent(call: Call, caller: Principal) -> Answer:
    return _listed(call, call.use(tasks).of_intent(caller, call.names["intent_id"]))


def of_agent(call: Call, caller: Principal) -> Answer:
    return _listed(call, call.use(tasks).of_agent(caller, call.names["agent_id"]))


def _listed(call: Call, tasks: list[Task]) -> Answer:
    limit, offset = limits(call)
    status = single(call, "status")
    if status is not None and status not in get_args(Status):
        raise ValidationFailed("status", f"is one of {', '.join(get_args(Status))}")
    matching = [task for task in tasks if status in (None, task.status)]
    page = cut(map(task_document, matching[offset : offset + limit]))
    return json_answer(200, page, **position(len(matching), offset, len(page)))


def grant(call: Call, caller: Principal) -> Answer:
    task_id, principal = call.names["task_id"], call.name("principal", 128)
    granted = call.use(grants).grant(caller, task_id, principal, parsed(call, NewGrant))
    return json_answer(200, grant_document(granted))


def revoke(call: Call, caller: Principal) -> Answer:
    call.use(grants).revoke(caller, call.names["task_id"], call.names["principal"])
    return Answer(204)


def get_acl(call: Call, caller: Principal) -> Answer:
    intent = call.use(intents).get(caller, call.names["intent_id"])
    return json_answer(200, intent_document(intent))


def set_acl(call: Call, caller: Principal) -> Answer:
    acl = parsed(call, Acl)
    intent = call.use(intents).set_acl(caller, call.names["intent_id"], acl)
    return json_answer(200, intent_document(intent))


def _task_answer(status: int, task: Task, **headers: str) -> Answer:
    return json_answer(status, task_document(task), etag=f'"{task.version}"', **headers)


ROUTES = [
    Route(
        "POST",
        TASKS,
        register,
        WRITE,
        "Register a task, or adopt one that a write registered",
        {201: "Task"},
        body=NewTask,
        also=(409, 413),
        once=True,
    ),
    Route(
        "PUT",
        _GRANT,
        grant,
        WRITE,
        "Give a principal access to a task's working memory",
        {200: "Grant"},
        body=NewGrant,
        also=(404, 409, 413, 429),
    ),
    Route("DELETE", _GRANT, revoke, WRITE, "Take a grant back", {204: None}, also=(404, 409)),
    Route(
        "GET",
        f"{TASKS}/{{task_id+}}",
        get,
        READ,
        "Get a task",
        {200: "Task"},
        also=(404,),
    ),
    Route(
        "PATCH",
        f"{TASKS}/{{task_id+}}",
        change,
        WRITE,
        "Change a task",
        {200: "Task"},
        body=TaskChange,
        also=(404, 409, 413, 428),
        if_match="required",
        once=True,
    ),
    Route(
        "GET",
        "/api/v1/intents/{intent_id+}/tasks",
        of_intent,
        READ,
        "List an intent's tasks, as a bare array",
        {200: "Tasks"},
        query=("status", *PAGE),
    ),
    Route(
        "GET",
        "/api/v1/agents/{agent_id+}/tasks",
        of_agent,
        READ,
        "List the open tasks assigned to an agent, as a bare array",
        {200: "Tasks"},
        query=("status", *PAGE),
    ),
    Route("GET", _ACL, get_acl, READ, "Get an intent's access list", {200: "Acl"}, also=(404,)),
    Route(
        "PUT",
        _ACL,
        set_acl,
        WRITE,
        "Set an intent's access list",
        {200: "Acl"},
        body=Acl,
        also=(404, 413),
    ),
]

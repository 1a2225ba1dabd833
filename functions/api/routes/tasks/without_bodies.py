"""Without a body: tasks and access lists read, grants taken back."""

from typing import get_args

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import intent_document, task_document
from functions.api.paging import PAGE, cut, limits, position, single
from functions.api.route import Route
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.tasks.model import Status, Task

TASKS = "/api/v1/tasks"
GRANT = f"{TASKS}/{{task_id+}}/grants/{{principal+}}"
ACL = "/api/v1/intents/{intent_id+}/acl"


def get(call: Call, caller: Principal) -> Answer:
    return task_answer(200, call.services.tasks.get(caller, call.names["task_id"]))


def of_intent(call: Call, caller: Principal) -> Answer:
    return _listed(call, call.services.tasks.of_intent(caller, call.names["intent_id"]))


def of_agent(call: Call, caller: Principal) -> Answer:
    return _listed(call, call.services.tasks.of_agent(caller, call.names["agent_id"]))


def _listed(call: Call, tasks: list[Task]) -> Answer:
    limit, offset = limits(call)
    status = single(call, "status")
    if status is not None and status not in get_args(Status):
        raise ValidationFailed("status", f"is one of {', '.join(get_args(Status))}")
    matching = [task for task in tasks if status in (None, task.status)]
    page = cut(map(task_document, matching[offset : offset + limit]))
    return json_answer(200, page, **position(len(matching), offset, len(page)))


def revoke(call: Call, caller: Principal) -> Answer:
    call.services.grants.revoke(caller, call.names["task_id"], call.names["principal"])
    return Answer(204)


def get_acl(call: Call, caller: Principal) -> Answer:
    intent = call.services.intents.get(caller, call.names["intent_id"])
    return json_answer(200, intent_document(intent))


def task_answer(status: int, task: Task, **headers: str) -> Answer:
    """An answer that shows a task."""
    return json_answer(status, task_document(task), etag=f'"{task.version}"', **headers)


ROUTES = [
    Route("DELETE", GRANT, revoke, WRITE, "Take a grant back", {204: None}, also=(404, 409)),
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
    Route("GET", ACL, get_acl, READ, "Get an intent's access list", {200: "Acl"}, also=(404,)),
]

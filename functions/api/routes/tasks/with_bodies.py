"""With a body: tasks and grants, access lists set."""

from urllib.parse import quote

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import grant_document, intent_document
from functions.api.parsing import parsed
from functions.api.route import Route
from functions.api.routes.tasks.without_bodies import ACL, GRANT, TASKS, task_answer
from functions.identity.model import WRITE, Principal
from functions.platform.limits import MAX_ID_CHARACTERS
from functions.tasks.requests import Acl, NewGrant, NewTask, TaskChange


def register(call: Call, caller: Principal) -> Answer:
    task = call.services.endings.register(caller, parsed(call, NewTask), call.token(caller))
    return task_answer(201, task, location=f"{TASKS}/{quote(task.id, safe='')}")


def change(call: Call, caller: Principal) -> Answer:
    task = call.services.endings.change(
        caller,
        call.names["task_id"],
        call.required_version,
        parsed(call, TaskChange),
        call.token(caller),
    )
    return task_answer(200, task)


def grant(call: Call, caller: Principal) -> Answer:
    task_id, principal = call.names["task_id"], call.name("principal", MAX_ID_CHARACTERS)
    granted = call.services.grants.grant(caller, task_id, principal, parsed(call, NewGrant))
    return json_answer(200, grant_document(granted))


def set_acl(call: Call, caller: Principal) -> Answer:
    acl = parsed(call, Acl)
    intent = call.services.intents.set_acl(caller, call.names["intent_id"], acl)
    return json_answer(200, intent_document(intent))


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
        GRANT,
        grant,
        WRITE,
        "Give a principal access to a task's working memory",
        {200: "Grant"},
        body=NewGrant,
        also=(404, 409, 413, 429),
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
        "PUT",
        ACL,
        set_acl,
        WRITE,
        "Set an intent's access list",
        {200: "Acl"},
        body=Acl,
        also=(404, 413),
    ),
]

"""Procedures (ADR-043 Tier 4; contract §8)."""

from urllib.parse import quote

from functions.api.call import Answer, Call, json_answer
from functions.api.paging import PAGE, listed
from functions.api.parsing import parsed
from functions.api.procedure_documents import workflow_document
from functions.api.route import Route
from functions.identity.model import READ, WRITE, Principal
from functions.platform.limits import MAX_ID_CHARACTERS
from functions.procedures.model import Procedure, WorkflowStats
from functions.procedures.requests import NewWorkflow, Outcome, Selection

_PROCEDURE = "/api/v1/procedures/{agent_type}/{task_type}"
_WORKFLOW = f"{_PROCEDURE}/{{workflow_id}}"


def put(call: Call, caller: Principal) -> Answer:
    new, procedure, workflow = parsed(call, NewWorkflow), _procedure(call), _workflow(call)
    stored, first = call.services.procedures.put(caller, procedure, workflow, new, call.if_match)
    answer = _answer(201 if first else 200, stored)
    if first:
        names = (procedure.agent_type, procedure.task_type, workflow)
        path = "/".join(quote(name, safe="") for name in names)
        answer.headers["location"] = f"/api/v1/procedures/{path}"
    return answer


def get(call: Call, caller: Principal) -> Answer:
    return _answer(200, call.services.procedures.get(caller, _procedure(call), _workflow(call)))


def get_all(call: Call, caller: Principal) -> Answer:
    documents = [
        workflow_document(each)
        for each in call.services.procedures.get_all(caller, _procedure(call))
    ]
    return json_answer(200, listed(call, "procedures", documents))


def select(call: Call, caller: Principal) -> Answer:
    wanted = parsed(call, Selection) if call.body else Selection()
    found = call.services.procedures.select(caller, _procedure(call), wanted.seed)
    return _answer(200, found, sampled=found.sampled)


def outcome(call: Call, caller: Principal) -> Answer:
    score = parsed(call, Outcome).score
    token = None if call.idempotency_key is None else call.token(caller)
    counted = call.services.procedures.record_outcome(
        caller, _procedure(call), _workflow(call), score, token
    )
    return _answer(200, counted)


def delete(call: Call, caller: Principal) -> Answer:
    call.services.procedures.delete(caller, _procedure(call), _workflow(call), call.if_match)
    return Answer(204)


def _procedure(call: Call) -> Procedure:
    return Procedure(
        call.name("agent_type", MAX_ID_CHARACTERS), call.name("task_type", MAX_ID_CHARACTERS)
    )


def _workflow(call: Call) -> str:
    return call.name("workflow_id", MAX_ID_CHARACTERS)


def _answer(status: int, found: WorkflowStats, **more: object) -> Answer:
    document = workflow_document(found) | more
    return json_answer(status, document, etag=f'"{found.workflow.version}"')


ROUTES = [
    Route(
        "POST",
        f"{_PROCEDURE}/select",
        select,
        READ,
        "Select the workflow to try next, by Thompson sampling",
        {200: "SelectedWorkflow"},
        body=Selection,
        body_optional=True,
        also=(404,),
    ),
    Route(
        "POST",
        f"{_WORKFLOW}/outcome",
        outcome,
        WRITE,
        "Report how well a workflow did",
        {200: "Workflow"},
        body=Outcome,
        also=(404, 409),
        once=True,
    ),
    Route(
        "PUT",
        _WORKFLOW,
        put,
        WRITE,
        "Set a workflow's spec",
        {200: "Workflow", 201: "Workflow"},
        body=NewWorkflow,
        also=(404, 409, 413),
        if_match="optional",
    ),
    Route("GET", _WORKFLOW, get, READ, "Get a workflow", {200: "Workflow"}, also=(404,)),
    Route(
        "DELETE",
        _WORKFLOW,
        delete,
        WRITE,
        "Delete a workflow with what was learned of it",
        {204: None},
        also=(404, 409),
        if_match="optional",
    ),
    Route(
        "GET",
        _PROCEDURE,
        get_all,
        READ,
        "List the workflows of a type of task",
        {200: "WorkflowPage"},
        query=PAGE,
    ),
]

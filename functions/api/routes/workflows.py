"""Workflows (contract §5)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.governing_documents import workflow_document
from functions.api.route import Route
from functions.identity.model import ADMIN, Principal
from functions.workflows.requests import Workflow


def apply(call: Call, caller: Principal) -> Answer:
    from functions.workflows.text import read_workflow  # noqa: PLC0415 - no cold start waits for it

    workflow = read_workflow(call.body, call.headers.get("content-type", "").lower())
    applied = call.services.workflows.apply(caller, workflow, call.token(caller))
    return json_answer(200, workflow_document(applied))


ROUTES = [
    Route(
        "POST",
        "/api/v1/workflows",
        apply,
        ADMIN,
        "Apply a workflow's memory, agents and plan",
        {200: "AppliedWorkflow"},
        body=Workflow,
        media=("application/json", "application/yaml"),
        also=(409, 413),
        once=True,
    ),
]

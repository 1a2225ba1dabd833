"""Recall: one question to all that a caller may read."""

from functions.api.http import Request, Response, json_response
from functions.api.responses.recall import (
    RecallDocument,
    RecallReferenceDocument,
    render_recall,
    render_reference,
)
from functions.api.routing import Route
from functions.identity.model import READ, Principal
from functions.recall.requests import ConversationQuestion, Question


def recall(request: Request, caller: Principal) -> Response:
    question = request.parse_body(Question)
    found = request.services.recall.recall(caller, question)
    return json_response(200, render_recall(found, is_explained=question.explain))


def search_conversations(request: Request, caller: Principal) -> Response:
    question = request.parse_body(ConversationQuestion)
    found = request.services.recall.search_conversations(caller, question)
    return json_response(200, render_recall(found, is_explained=question.explain))


def get_recalled(request: Request, caller: Principal) -> Response:
    item = request.services.recall.get(caller, request.path_params["reference"])
    return json_response(200, render_reference(item))


ROUTES = [
    Route(
        "POST /api/v1/recall",
        recall,
        READ,
        "Ask all memory one question",
        {200: RecallDocument},
        request_model=Question,
        description="Searches the entries, facts, messages and episodes that you may read, and "
        "ranks them together. `confidential` and `restricted` items are never found. `text` quotes "
        "the items as data for a prompt.",
        is_query=True,
    ),
    Route(
        "GET /api/v1/recall/{reference}",
        get_recalled,
        READ,
        "Get the item that a reference names",
        {200: RecallReferenceDocument},
        error_statuses=(403, 404),
    ),
    Route(
        "POST /api/v1/conversations/search",
        search_conversations,
        READ,
        "Search what was said in conversations",
        {200: RecallDocument},
        request_model=ConversationQuestion,
        description="Searches the messages of the 500 newest conversations that you may read, or "
        "of those of a user. A message is found from its append on. Each result has the messages "
        "around it.",
        is_query=True,
    ),
]

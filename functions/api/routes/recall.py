"""Recall: one question to all memory that a caller may read."""

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE, TextParameter
from functions.api.responses.recall import (
    AnswersDocument,
    ForgottenDocument,
    RecallDocument,
    RecallReferenceDocument,
    render_forgotten,
    render_recall,
    render_reference,
)
from functions.api.routing import RouteTable
from functions.audit.authority import INSPECT_MEMORY
from functions.authorization.rules import authorize
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import AccessDenied
from functions.platform.limits import MAX_ID_CHARACTERS
from functions.recall.authority import FORGET_USER
from functions.recall.requests import ConversationQuestion, ForgottenUser, Question

ROUTES = RouteTable()
_AS = TextParameter(
    "as_principal",
    "Ask as this principal, and return its answer. Needs `memory.inspect`.",
    MAX_ID_CHARACTERS,
)


@ROUTES.add(
    "POST /api/v1/recall",
    READ,
    {200: RecallDocument},
    query=(_AS,),
    error_statuses=(404,),
    is_query=True,
)
def recall(request: Request, caller: Principal, question: Question) -> Response:
    """Ask all memory one question.

    Searches the entries, facts, messages and episodes that you may read, and ranks them
    together. `confidential` and `restricted` items are never found. `text` quotes the items as
    data for a prompt.
    """
    found = request.services.recall.recall(_find_asker(request, caller), question)
    return json_response(200, render_recall(found, is_explained=question.explain))


def _find_asker(request: Request, caller: Principal) -> Principal:
    named = _AS.read(request)
    if named in (None, caller.id):
        return caller
    authorize(caller, INSPECT_MEMORY, None)
    asker = request.services.identity.get_principal(caller.tenant, named)
    if READ not in asker.permissions:
        raise AccessDenied(f"this principal lacks {READ}")
    return asker


@ROUTES.add(
    "GET /api/v1/recall/{reference}",
    READ,
    {200: RecallReferenceDocument},
    error_statuses=(403, 404),
)
def get_recalled(request: Request, caller: Principal) -> Response:
    """Get the item that a reference names."""
    item = request.services.recall.get(caller, request.path_params["reference"])
    return json_response(200, render_reference(item))


@ROUTES.add(
    "GET /api/v1/recall/{reference}/answers", READ, {200: AnswersDocument}, query=CURSOR_PAGE
)
def list_answers(request: Request, caller: Principal) -> Response:
    """List the messages whose `uses` name an item, the newest first.

    Messages of conversations that you may not read, and of `confidential` and `restricted`
    ones, are left out. An item that does not exist has no answers.
    """
    reference, recall = request.path_params["reference"], request.services.recall
    answers, position = paginate(
        request,
        caller,
        lambda wanted: recall.list_answers(caller, reference, wanted),
        lambda each: render_reference(each.item),
    )
    return json_response(200, AnswersDocument(answers=answers, **position))


@ROUTES.add("POST /api/v1/forget", WRITE, {200: ForgottenDocument}, audited=(FORGET_USER,))
def forget_user(request: Request, caller: Principal, asked: ForgottenUser) -> Response:
    """Delete all that is stored about a user.

    Deletes the entries below `users/{user_id}/`, the facts and conversations with this `user_id`,
    archives included, the states that the user owns, and the objects in spaces named
    `users/{user_id}` or below. What strategies learned from these conversations ends with them.
    Needs write access to `users/{user_id}/memory`. If `complete` is false, repeat the request.
    """
    user_id = asked.user_id
    found = request.services.user_forgetting.forget(caller, user_id)
    return json_response(200, render_forgotten(found))


@ROUTES.add("POST /api/v1/conversations/search", READ, {200: RecallDocument}, is_query=True)
def search_conversations(
    request: Request, caller: Principal, question: ConversationQuestion
) -> Response:
    """Search what was said in conversations.

    Searches the messages of the 500 newest conversations that you may read, or of those of a
    user. A message is found from its append on. Each result has the messages around it.
    """
    found = request.services.recall.search_conversations(caller, question)
    return json_response(200, render_recall(found, is_explained=question.explain))

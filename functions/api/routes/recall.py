"""Recall: search all memory that a caller may read."""

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from functions.api.documents import Count, PagePosition, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE, TextParameter
from functions.api.routing import RouteTable
from functions.audit.authority import INSPECT_MEMORY
from functions.authorization.rules import authorize
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import AccessDenied
from functions.platform.limits import MAX_ID_CHARACTERS
from functions.platform.references import SourceName
from functions.recall.authority import FORGET_USER
from functions.recall.model import Recalled, RecallItem
from functions.recall.requests import ConversationQuestion, ForgottenUser, Question
from functions.recall.tokens import TOKENIZER


class NearbyMessageDocument(TypedDict):
    """A found message, or a message before or after it."""

    index: Count
    reference: str
    speaker: str
    text: str
    time: Timestamp


class RecallReferenceDocument(TypedDict):
    """An item of a source."""

    source: SourceName
    reference: str
    """A short name of the item: `GET /api/v1/recall/{reference}` returns it."""
    id: str
    text: str
    """The text of the item, at most {MAX_RECALLED_CHARACTERS} characters."""
    time: Timestamp
    """The time that the item is about: a message's `timestamp`, an entry's `occurred_at`, a fact's
    `valid_from`, else the creation."""
    provenance: dict[str, Any]
    """The principal that stored the item, and its source. For a fact, also the time since which it
    holds, the fact that it `replaced`, and the other value of a single-valued predicate that it
    `conflicts_with`. Learned items name their messages in `learned_from`."""
    speaker: NotRequired[str]
    """For messages: the speaker."""
    namespace: NotRequired[str]
    key: NotRequired[str]
    memory_type: NotRequired[str]
    agent_id: NotRequired[str]
    subject: NotRequired[str]
    predicate: NotRequired[str]
    object: NotRequired[str]
    session_id: NotRequired[str]
    index: NotRequired[Count]
    role: NotRequired[str]
    user_id: NotRequired[str]
    run_id: NotRequired[str]


class AnswersDocument(PagePosition):
    """A page of the messages that use an item."""

    answers: list[RecallReferenceDocument]


class RecallItemDocument(RecallReferenceDocument):
    """An item that recall found."""

    score: float
    """The relevance: 1 for the same words. Compare scores only within one response."""
    matched: list[str]
    """The words and IDs of the query that the item has."""
    neighbours: NotRequired[list[NearbyMessageDocument]]
    """For messages: the message and its neighbors, in order."""
    explanation: NotRequired[dict[str, float]]
    """With `explain`: the parts of the score."""


class RecallDocument(TypedDict):
    """The best items for a question, and a text that quotes them."""

    items: list[RecallItemDocument]
    text: str
    """The items as a block for a prompt: by source, with time, speaker and reference."""
    tokens: Count
    """An upper bound of the tokens of `text`."""
    tokenizer: str
    """The rule that counts tokens."""
    skipped_sources: list[SourceName]
    """The sources that do not support a given filter, and were not searched."""
    indexed_until: Timestamp
    """All writes before this time were searched."""


def render_recall(recalled: Recalled, *, is_explained: bool) -> RecallDocument:
    """Render the result of a recall."""
    items = [_render_item(each, is_explained=is_explained) for each in recalled.items]
    return to_document(recalled, RecallDocument, items=items, tokenizer=TOKENIZER)


def render_reference(item: RecallItem) -> RecallReferenceDocument:
    """Render the item of a reference."""
    provenance = dict(item.provenance)
    document = to_document(item, RecallReferenceDocument, provenance=provenance)
    document.update(item.address)  # type: ignore[typeddict-item]
    return document


def _render_item(item: RecallItem, *, is_explained: bool) -> RecallItemDocument:
    document = cast("RecallItemDocument", render_reference(item))
    document["score"] = item.score
    document["matched"] = list(item.matched)
    if item.neighbours:
        document["neighbours"] = [
            to_document(each, NearbyMessageDocument) for each in item.neighbours
        ]
    if is_explained:
        document["explanation"] = dict(item.explanation)
    return document


class ForgottenDocument(TypedDict):
    """The numbers of deleted items about a user, by kind."""

    entries: Count
    facts: Count
    conversations: Count
    states: Count
    objects: Count
    complete: bool
    """True if nothing is left. If false, repeat the request."""


ROUTES = RouteTable()

_AS = TextParameter(
    "as_principal",
    "Recall as this principal. Needs `memory.inspect`.",
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
    """Search all memory for a question.

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
    asker = request.services.principals.get_principal(caller.tenant, named)
    if READ not in asker.permissions:
        raise AccessDenied(f"must be a principal with {READ}")
    return asker


@ROUTES.add(
    "GET /api/v1/recall/{reference}",
    READ,
    {200: RecallReferenceDocument},
    error_statuses=(403, 404),
)
def get_recalled(request: Request, caller: Principal) -> Response:
    """Get the item of a reference."""
    item = request.services.recall.get(caller, request.path_params["reference"])
    return json_response(200, render_reference(item))


@ROUTES.add(
    "GET /api/v1/recall/{reference}/answers", READ, {200: AnswersDocument}, query=CURSOR_PAGE
)
def list_answers(request: Request, caller: Principal) -> Response:
    """List the messages whose `uses` name an item, newest first.

    Messages of conversations that you may not read, and of `confidential` and `restricted` ones,
    are omitted. The list of a missing item is empty.
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
    """Delete all memory about a user.

    Deletes the entries below `users/{user_id}/`, the facts and conversations with this `user_id`,
    including archives, the states that the user owns, and the objects in the spaces
    `users/{user_id}` and below. Memory learned from these conversations ends. Needs write access to
    `users/{user_id}/memory`. If `complete` is false, repeat the request.
    """
    found = request.services.user_forgetting.forget(caller, asked.user_id)
    names = ("entries", "facts", "conversations", "states", "objects")
    counts = {name: found.counts[name] for name in names}
    return json_response(200, to_document(found, ForgottenDocument, **counts))


@ROUTES.add("POST /api/v1/conversations/search", READ, {200: RecallDocument}, is_query=True)
def search_conversations(
    request: Request, caller: Principal, question: ConversationQuestion
) -> Response:
    """Search the messages of conversations.

    Searches the {MAX_SEARCHED_CONVERSATIONS} newest conversations that you may read, or a user's.
    Messages are found as soon as they are appended. Each result has the messages around it.
    """
    found = request.services.recall.search_conversations(caller, question)
    return json_response(200, render_recall(found, is_explained=question.explain))

"""Conversations (Agent Memory Protocol §3, §4.1; contract §9)."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from functions.api.conversation_documents import conversation_document, message_document
from functions.api.documents import Document
from functions.api.filters import tags_of
from functions.api.http import Request, Response, json_response
from functions.api.paging import PAGE, cut, envelope, limits, number, single
from functions.api.routing import Route
from functions.conversations.model import Conversation, Message
from functions.conversations.requests import NewConversation, NewMessages
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_NAME_CHARACTERS, MAX_PAGE_ITEMS

CONVERSATIONS = "/api/v1/conversations"
CONVERSATION = f"{CONVERSATIONS}/{{session_id+}}"
_ARCHIVE = f"{CONVERSATION}/archive"


def get_conversation(request: Request, caller: Principal) -> Response:
    first, most = _range(request)
    newest = number(request, "last", 0, 1, MAX_PAGE_ITEMS)
    if newest and request.query.keys() & set(PAGE):
        raise ValidationFailed("last", "goes without limit and offset")
    session = request.path_params["session_id"]
    found, page = request.services.conversations.read(
        caller, session, -newest or first, most, _page
    )
    return _response(
        200, found, _document(found, max(found.count - newest, 0) if newest else first, page)
    )


def pop_message(request: Request, caller: Principal) -> Response:
    token = request.optional_idempotency_token(caller)
    after, popped = request.services.conversations.pop(
        caller, request.path_params["session_id"], token
    )
    document = {
        "session_id": after.session,
        "revision": after.revision,
        "message_count": after.count,
        "message": None if popped is None else message_document(popped),
    }
    return _response(200, after, document)


def delete_conversation(request: Request, caller: Principal) -> Response:
    request.services.conversations.delete(
        caller, request.path_params["session_id"], request.if_match
    )
    return Response(204)


def list_user_conversations(request: Request, caller: Principal) -> Response:
    limit, offset = limits(request)
    found, total = request.services.conversations.list_for_user(
        caller, request.path_params["user_id"], tags_of(request, "tags"), limit, offset
    )
    page = cut(map(conversation_document, found))
    return json_response(200, envelope("conversations", page, total, limit, offset, len(page)))


def get_archived_conversation(request: Request, caller: Principal) -> Response:
    first, most = _range(request)
    session = request.path_params["session_id"]
    found, page = request.services.conversation_archive.read(caller, session, first, most, _page)
    return _response(200, found, _document(found, first, page))


def delete_archived_conversation(request: Request, caller: Principal) -> Response:
    request.services.conversation_archive.delete(caller, request.path_params["session_id"])
    return Response(204)


def _range(request: Request) -> tuple[int, int | None]:
    """The first message, and how many at most; without `limit`, as many as an answer holds."""
    limited = single(request, "limit") is not None
    limit, offset = limits(request)
    return offset, limit if limited else None


def _page(messages: Iterable[Message]) -> list[Any]:
    return cut(map(message_document, messages))


def _document(found: Conversation, first: int, page: list[Any]) -> Document:
    upto = first + len(page)
    more = {"next_offset": upto} if upto < found.count else {}
    return conversation_document(found) | {"messages": page, "offset": first} | more


def _response(status: int, found: Conversation, document: Document, **headers: str) -> Response:
    """An answer that shows something of a conversation, with its version."""
    return json_response(status, document, etag=f'"{found.revision}"', **headers)


def put_conversation(request: Request, caller: Principal) -> Response:
    new, session = (
        request.parse_body(NewConversation),
        request.path_param("session_id", MAX_NAME_CHARACTERS),
    )
    made, first = request.services.conversations.put(caller, session, new, request.if_match)
    located = {"location": _address(session)} if first else {}
    return _response(201 if first else 200, made, conversation_document(made), **located)


def append_messages(request: Request, caller: Principal) -> Response:
    new, session = request.parse_body(NewMessages), request.path_params["session_id"]
    token = request.optional_idempotency_token(caller)
    after, added = request.services.conversations.append(caller, session, new.all, token)
    document = {
        "session_id": after.session,
        "revision": after.revision,
        "message_count": after.count,
        "messages": [message_document(message) for message in added],
    }
    return _response(201, after, document, location=_address(session))


def _address(session: str) -> str:
    return f"{CONVERSATIONS}/{quote(session, safe='')}"


ROUTES = [
    Route(
        "POST",
        f"{CONVERSATION}/messages/pop",
        pop_message,
        WRITE,
        "Take the last message off a conversation",
        {200: "Popped"},
        error_statuses=(404, 409),
        idempotent=True,
    ),
    Route(
        "GET",
        _ARCHIVE,
        get_archived_conversation,
        READ,
        "Read a conversation whose retention is over back from cold storage",
        {200: "Conversation"},
        query=PAGE,
        error_statuses=(404,),
    ),
    Route(
        "DELETE",
        _ARCHIVE,
        delete_archived_conversation,
        WRITE,
        "Remove a conversation from cold storage",
        {204: None},
        error_statuses=(404,),
    ),
    Route(
        "GET",
        CONVERSATION,
        get_conversation,
        READ,
        "Get a conversation and a page of its messages, oldest first",
        {200: "Conversation"},
        query=("last", *PAGE),
        error_statuses=(404,),
    ),
    Route(
        "DELETE",
        CONVERSATION,
        delete_conversation,
        WRITE,
        "Delete a conversation",
        {204: None},
        error_statuses=(404, 409),
        if_match="optional",
    ),
    Route(
        "GET",
        "/api/v1/users/{user_id+}/conversations",
        list_user_conversations,
        READ,
        "List a user's conversations, newest first, without their messages",
        {200: "ConversationPage"},
        query=("tags", *PAGE),
    ),
    Route(
        "POST",
        f"{CONVERSATION}/messages",
        append_messages,
        WRITE,
        "Append messages to a conversation",
        {201: "Appended"},
        request_model=NewMessages,
        error_statuses=(404, 409, 413),
        idempotent=True,
    ),
    Route(
        "PUT",
        CONVERSATION,
        put_conversation,
        WRITE,
        "Store a whole conversation, in place of the one before it",
        {200: "ConversationHead", 201: "ConversationHead"},
        request_model=NewConversation,
        error_statuses=(404, 409, 413),
        if_match="optional",
    ),
]

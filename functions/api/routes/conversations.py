"""Conversations (Agent Memory Protocol §3, §4.1; contract §9)."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from functions.api.http import Request, Response, json_response
from functions.api.paging import page_position, truncate_to_limit
from functions.api.parameters import LIMIT, OFFSET, PAGE, TAGS, IntegerParameter
from functions.api.responses.conversations import (
    AppendedDocument,
    ConversationDocument,
    ConversationHeadDocument,
    ConversationPageDocument,
    MessageDocument,
    MessagePosition,
    PoppedDocument,
    render_conversation,
    render_message,
)
from functions.api.routing import Route
from functions.conversations.model import Conversation, Message
from functions.conversations.requests import NewConversation, NewMessages
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_NAME_CHARACTERS, MAX_PAGE_ITEMS

_CONVERSATIONS = "/api/v1/conversations"
_CONVERSATION = f"{_CONVERSATIONS}/{{session_id+}}"
_ARCHIVE = f"{_CONVERSATION}/archive"
_LAST = IntegerParameter(
    "last", "The newest so many messages; without limit and offset.", 1, MAX_PAGE_ITEMS
)


def put_conversation(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewConversation)
    session_id = request.path_param("session_id", MAX_NAME_CHARACTERS)
    stored, is_new = request.services.conversations.put(caller, session_id, new, request.if_match)
    document = render_conversation(stored)
    if is_new:
        return _response(201, stored, document, location=_location(session_id))
    return _response(200, stored, document)


def get_conversation(request: Request, caller: Principal) -> Response:
    offset, limit = _range(request)
    last = _LAST.read(request)
    if last and not request.query.keys().isdisjoint({LIMIT.name, OFFSET.name}):
        raise ValidationFailed("last", "goes without limit and offset")
    session_id = request.path_params["session_id"]
    found, messages = request.services.conversations.read(
        caller, session_id, -last or offset, limit, _render_messages
    )
    if last:
        offset = max(found.count - last, 0)
    return _response(200, found, _render_page(found, offset, messages))


def delete_conversation(request: Request, caller: Principal) -> Response:
    session_id = request.path_params["session_id"]
    request.services.conversations.delete(caller, session_id, request.if_match)
    return Response(204)


def append_messages(request: Request, caller: Principal) -> Response:
    new, session_id = request.parse_body(NewMessages), request.path_params["session_id"]
    token = request.optional_idempotency_token(caller)
    found, added = request.services.conversations.append(caller, session_id, new.all, token)
    document = AppendedDocument(
        session_id=found.session,
        revision=found.revision,
        message_count=found.count,
        messages=list(map(render_message, added)),
    )
    return _response(201, found, document, location=_location(session_id))


def pop_message(request: Request, caller: Principal) -> Response:
    token = request.optional_idempotency_token(caller)
    session_id = request.path_params["session_id"]
    found, popped = request.services.conversations.pop(caller, session_id, token)
    document = PoppedDocument(
        session_id=found.session,
        revision=found.revision,
        message_count=found.count,
        message=None if popped is None else render_message(popped),
    )
    return _response(200, found, document)


def list_user_conversations(request: Request, caller: Principal) -> Response:
    limit, offset = LIMIT.read(request), OFFSET.read(request)
    found, total = request.services.conversations.list_for_user(
        caller, request.path_params["user_id"], TAGS.read(request), limit, offset
    )
    page = truncate_to_limit(map(render_conversation, found))
    position = page_position(total, limit, offset, len(page))
    return json_response(200, ConversationPageDocument(conversations=page, **position))


def get_archived_conversation(request: Request, caller: Principal) -> Response:
    offset, limit = _range(request)
    session_id = request.path_params["session_id"]
    found, messages = request.services.conversation_archive.read(
        caller, session_id, offset, limit, _render_messages
    )
    return _response(200, found, _render_page(found, offset, messages))


def delete_archived_conversation(request: Request, caller: Principal) -> Response:
    request.services.conversation_archive.delete(caller, request.path_params["session_id"])
    return Response(204)


def _range(request: Request) -> tuple[int, int | None]:
    """Read offset and limit; without a limit, a page has as many messages as a response holds."""
    limit = None if LIMIT.text(request) is None else LIMIT.read(request)
    return OFFSET.read(request), limit


def _render_messages(messages: Iterable[Message]) -> list[MessageDocument]:
    return truncate_to_limit(map(render_message, messages))


def _render_page(
    found: Conversation, offset: int, messages: list[MessageDocument]
) -> ConversationDocument:
    position: MessagePosition = {"offset": offset}
    if offset + len(messages) < found.count:
        position["next_offset"] = offset + len(messages)
    return {**render_conversation(found), **position, "messages": messages}


def _response(
    status: int, found: Conversation, document: Mapping[str, Any], **headers: str
) -> Response:
    """Render a response about a conversation, with its version."""
    return json_response(status, document, etag=f'"{found.revision}"', **headers)


def _location(session_id: str) -> str:
    return f"{_CONVERSATIONS}/{quote(session_id, safe='')}"


ROUTES = [
    Route(
        "POST",
        f"{_CONVERSATION}/messages/pop",
        pop_message,
        WRITE,
        "Take the last message off a conversation",
        {200: PoppedDocument},
        response_headers=("ETag",),
        error_statuses=(404, 409),
        idempotent=True,
        further_permission=READ,
    ),
    Route(
        "GET",
        _ARCHIVE,
        get_archived_conversation,
        READ,
        "Read a conversation whose retention is over back from cold storage",
        {200: ConversationDocument},
        response_headers=("ETag",),
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
        _CONVERSATION,
        get_conversation,
        READ,
        "Get a conversation and a page of its messages, oldest first",
        {200: ConversationDocument},
        response_headers=("ETag",),
        query=(_LAST, *PAGE),
        error_statuses=(404,),
    ),
    Route(
        "DELETE",
        _CONVERSATION,
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
        {200: ConversationPageDocument},
        query=(TAGS, *PAGE),
    ),
    Route(
        "POST",
        f"{_CONVERSATION}/messages",
        append_messages,
        WRITE,
        "Append messages to a conversation",
        {201: AppendedDocument},
        response_headers=(
            "ETag",
            "Location",
        ),
        request_model=NewMessages,
        error_statuses=(404, 409, 413),
        idempotent=True,
    ),
    Route(
        "PUT",
        _CONVERSATION,
        put_conversation,
        WRITE,
        "Store a whole conversation, in place of the one before it",
        {200: ConversationHeadDocument, 201: ConversationHeadDocument},
        response_headers=(
            "ETag",
            "Location",
        ),
        request_model=NewConversation,
        error_statuses=(404, 409, 413),
        if_match="optional",
    ),
]

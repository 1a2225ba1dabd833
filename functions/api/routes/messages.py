"""Messages of a conversation: append, pop, change, remove, upload."""

from typing import cast

import orjson
from typing_extensions import TypedDict

from functions.api.documents import (
    Count,
    Timestamp,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response
from functions.api.parameters import IntegerParameter
from functions.api.routes.conversations import (
    CONVERSATION,
    ConversationMessageDocument,
    build_location,
    render_message,
)
from functions.api.routing import RouteTable
from functions.conversations.authority import CHANGE_MESSAGE, DELETE_MESSAGE
from functions.conversations.model import Conversation, Message
from functions.conversations.requests import MessageChange, NewMessages, NewUpload, UploadedMessages
from functions.identity.model import READ, WRITE, Principal
from functions.platform.errors import NotFound, ValidationFailed
from functions.platform.json_text import dumps
from functions.platform.limits import MAX_NAME_CHARACTERS, MAX_OFFSET


class ChangedConversationDocument(TypedDict):
    """A conversation after a change of its messages."""

    session_id: str
    revision: Version
    message_count: Count


class AppendedMessagesDocument(ChangedConversationDocument):
    """The appended messages, and the conversation after the append."""

    messages: list[ConversationMessageDocument]


class PoppedDocument(ChangedConversationDocument):
    """The removed message (null if there was none), and the conversation after its removal."""

    message: ConversationMessageDocument | None


class ChangedMessageDocument(ConversationMessageDocument, ChangedConversationDocument):
    """The changed message, and the conversation after the change."""


class RemovedDocument(ChangedConversationDocument):
    """The number of removed messages, and the conversation after their removal."""

    removed: Count


class UploadDocument(TypedDict):
    """Messages that are stored in parts before a conversation shows them."""

    upload_id: str
    session_id: str
    message_count: Count
    """The number of its messages, which is the `offset` of the next ones."""
    expires_at: Timestamp
    """The time when the upload expires, unless another part arrives or the upload is completed."""


def render_change(conversation: Conversation) -> ChangedConversationDocument:
    """Render a conversation after a change of its messages."""
    return to_document(conversation, ChangedConversationDocument)


def render_changed_message(conversation: Conversation, message: Message) -> ChangedMessageDocument:
    """Render a changed message and its conversation; stored integers stay exact."""
    added = dumps({"index": message.index, **render_change(conversation)})
    rendered = orjson.Fragment(added[:-1] + b"," + message.text[1:])
    return cast("ChangedMessageDocument", rendered)


def render_upload(upload: Conversation) -> UploadDocument:
    return to_document(upload, UploadDocument, upload_id=upload.generation)


ROUTES = RouteTable()

_MESSAGES = f"{CONVERSATION}/messages"

_UPLOADS = f"{CONVERSATION}/uploads"

_FROM = IntegerParameter("from", "The index of the first message to remove.", 0, MAX_OFFSET, 0)

_TO = IntegerParameter(
    "to",
    "The index after the last message to remove; by default, the end of the conversation.",
    0,
    MAX_OFFSET,
)


@ROUTES.add(
    f"POST {_MESSAGES}/pop",
    WRITE,
    {200: PoppedDocument},
    if_match="optional",
    idempotent=True,
    further_permission=READ,
    audited=(DELETE_MESSAGE,),
)
def pop_message(request: Request, caller: Principal) -> Response:
    """Remove and return the last message of a conversation."""
    token = request.optional_idempotency_token(caller)
    session_id = request.path_params["session_id"]
    found, popped = request.services.messages.pop(caller, session_id, request.if_match, token)
    document = PoppedDocument(
        **render_change(found), message=None if popped is None else render_message(popped)
    )
    return json_response(200, document, found.revision)


@ROUTES.add(
    f"POST {_UPLOADS}/{{upload_id}}/messages",
    WRITE,
    {200: UploadDocument},
    error_statuses=(404,),
    idempotent=True,
)
def upload_messages(request: Request, caller: Principal, new: UploadedMessages) -> Response:
    """Store messages of an upload."""
    parameters = request.path_params
    upload = request.services.conversations.write_upload(
        caller, parameters["session_id"], parameters["upload_id"], new.offset, new.messages
    )
    return json_response(200, render_upload(upload))


@ROUTES.add(
    f"POST {_UPLOADS}",
    WRITE,
    {201: UploadDocument},
    response_headers=("Location",),
    error_statuses=(409,),
    idempotent=True,
)
def begin_upload(request: Request, caller: Principal, new: NewUpload) -> Response:
    """Begin the upload of a conversation in parts; a PUT with its id completes it."""
    token = request.optional_idempotency_token(caller)
    session_id = request.path_param("session_id", MAX_NAME_CHARACTERS)
    upload = request.services.conversations.begin_upload(caller, session_id, new, token)
    location = f"{build_location(session_id)}/uploads/{upload.generation}"
    return json_response(201, render_upload(upload), location=location)


@ROUTES.add(
    f"POST {_MESSAGES}",
    WRITE,
    {201: AppendedMessagesDocument},
    if_match="optional",
    idempotent=True,
)
def append_messages(request: Request, caller: Principal, new: NewMessages) -> Response:
    """Append messages to a conversation."""
    session_id = request.path_params["session_id"]
    token = request.optional_idempotency_token(caller)
    found, added = request.services.messages.append(
        caller, session_id, new, request.if_match, token
    )
    document = AppendedMessagesDocument(
        **render_change(found), messages=list(map(render_message, added))
    )
    return json_response(201, document, found.revision, location=build_location(session_id))


@ROUTES.add(
    f"DELETE {_MESSAGES}",
    WRITE,
    {200: RemovedDocument},
    query=(_FROM, _TO),
    if_match="optional",
    audited=(DELETE_MESSAGE,),
)
def remove_messages(request: Request, caller: Principal) -> Response:
    """Remove a range of messages; the others keep their indexes."""
    if _FROM.text(request) is None and _TO.text(request) is None:
        raise ValidationFailed(
            "from",
            "is required: the index of the first message to remove; "
            "`to` is the index after the last one",
        )
    end = None if _TO.text(request) is None else _TO.read(request)
    found, removed = request.services.messages.remove(
        caller, request.path_params["session_id"], _FROM.read(request), end, request.if_match
    )
    document = RemovedDocument(**render_change(found), removed=removed)
    return json_response(200, document, found.revision)


@ROUTES.add(
    f"PATCH {_MESSAGES}/{{index}}",
    WRITE,
    {200: ChangedMessageDocument},
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_MESSAGE,),
)
def change_message(request: Request, caller: Principal, change: MessageChange) -> Response:
    """Change a message in place, such as to redact it."""
    token = request.optional_idempotency_token(caller)
    index = request.path_params["index"]
    if not (index.isascii() and index.isdigit() and len(index) < 12):
        raise NotFound("the index of a message must be a whole number")
    found, message = request.services.messages.change(
        caller, request.path_params["session_id"], int(index), change, request.if_match, token
    )
    return json_response(200, render_changed_message(found, message), found.revision)

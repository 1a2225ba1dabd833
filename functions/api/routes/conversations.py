"""Conversations (Agent Memory Protocol §3, §4.1)."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, NamedTuple, NotRequired, cast
from urllib.parse import quote

import orjson
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonObject,
    Timestamp,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response, stored_response
from functions.api.paging import read_cursor, sign_cursor, truncate_to_limit
from functions.api.parameters import (
    AFTER,
    ONLY_NEW,
    TOTAL,
    VALUES,
    IntegerParameter,
    TimestampParameter,
)
from functions.api.routing import WRITE_OR_ADMIN, RouteTable
from functions.conversations.authority import DELETE_CONVERSATION, REPLACE_CONVERSATION
from functions.conversations.model import SCHEMA, BuildPage, Conversation, Message
from functions.conversations.requests import ConversationChange, NewConversation
from functions.identity.model import READ, WRITE, Principal
from functions.platform import limits
from functions.platform.errors import ValidationFailed
from functions.platform.json_text import loads
from functions.platform.sensitivity import Sensitivity
from functions.platform.values import UNREADABLE


class ConversationMessageDocument(TypedDict):
    """A message of a conversation."""

    index: Count
    role: str
    content: NotRequired[Annotated[Any, VALUE]]
    """Absent without `memory.read`, and with `values=omit`."""
    timestamp: Timestamp
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    """Absent without `memory.read`, and with `values=omit`."""
    uses: NotRequired[Annotated[list[str], VALUE]]
    """References of the recalled items that it was made from; absent without any."""
    edited_by: NotRequired[str]
    """The principal that changed it last; absent if it was the author."""
    edited_at: NotRequired[Timestamp]
    """The time of that change."""
    unreadable: NotRequired[bool]
    """True if the stored text was damaged or moved: replace it or delete the message."""


class ConversationHeadDocument(TypedDict):
    """A conversation without its messages."""

    session_id: str
    user_id: str
    created_by: str
    agent_participants: tuple[str, ...]
    shared_with: tuple[str, ...]
    tags: tuple[str, ...]
    """Labels to query by."""
    unreadable: NotRequired[bool]
    """True if the stored metadata was damaged or moved: replace it or delete the conversation."""
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    """Absent without `memory.read`, with `values=omit`, and if messages fill the response:
    `limit=0` returns the metadata alone."""
    version: str
    """The version of the schema (Agent Memory Protocol §4.1)."""
    revision: Version
    """Counts the changes; send it as If-Match."""
    message_count: Count
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` conversations are stored encrypted."""
    searchable: bool | None
    """True if searches find its messages; null: the deployment's default."""
    learn: bool | None
    """If false, the messages are never sent to a model to learn from them."""
    ttl: str | None
    """`duration:` and an ISO 8601 duration, or null: no end."""
    expires_at: Timestamp | None
    """The time of its expiry. It is not found afterwards."""
    created_at: Timestamp
    updated_at: Timestamp


class MessagePosition(TypedDict):
    """The position of a page of messages in its conversation."""

    offset: Count
    """The number of messages before the page."""
    next_offset: NotRequired[Count]
    """The index to continue from; absent on the last page."""
    next: NotRequired[str]
    """The value of `after` for the next page; absent on the last page."""
    total: NotRequired[Count]
    """The number of messages of the conversation; absent with `total=none`."""


class ConversationDocument(ConversationHeadDocument, MessagePosition):
    """A conversation and a page of its messages, oldest first."""

    messages: list[ConversationMessageDocument]


def render_conversation(
    conversation: Conversation, *, with_values: bool = True
) -> ConversationHeadDocument:
    """Render a conversation without its messages."""
    head = to_document(conversation, ConversationHeadDocument, version=SCHEMA)
    is_unreadable = conversation.metadata is UNREADABLE
    if is_unreadable:
        head["unreadable"] = True
    if is_unreadable or not with_values:
        head.pop("metadata", None)
    return head


def render_message(message: Message) -> ConversationMessageDocument:
    """Render a message: its index before the stored JSON."""
    rendered = orjson.Fragment(b'{"index":%d,%b' % (message.index, message.text[1:]))
    return cast("ConversationMessageDocument", rendered)


def render_message_head(message: Message) -> ConversationMessageDocument:
    """Render a message without its content and metadata."""
    stored: dict[str, Any] = loads(message.text)
    return {"index": message.index, "role": stored["role"], "timestamp": stored["timestamp"]}


ROUTES = RouteTable()

CONVERSATIONS = "/api/v1/conversations"

CONVERSATION = f"{CONVERSATIONS}/{{session_id+}}"

_ARCHIVE = f"{CONVERSATION}/archive"

_LAST = IntegerParameter(
    "last",
    "The number of newest messages; not together with limit and offset.",
    1,
    limits.MAX_PAGE_ITEMS,
)

_MESSAGES = IntegerParameter(
    "limit",
    "The maximum number of messages; 0 returns the conversation only.",
    0,
    limits.MAX_PAGE_ITEMS,
)

_FIRST = IntegerParameter("offset", "The index of the first message.", 0, limits.MAX_OFFSET, 0)

_EXPIRED = TimestampParameter(
    "expires_at", "The time when its retention ended; by default, the latest one."
)

_BASE64_BYTES = limits.MAX_RESPONSE_BYTES // 4 * 3  # bytes in base64 that fit into a response


class _MessagePage(NamedTuple):
    """Rendered messages, the index of the last one, and whether the metadata fit beside them."""

    messages: list[ConversationMessageDocument]
    last: int
    has_metadata: bool


@ROUTES.add(
    f"GET {_ARCHIVE}",
    READ,
    {200: ConversationDocument},
    query=(_EXPIRED, _MESSAGES, _FIRST, AFTER, TOTAL, VALUES),
)
def get_archived_conversation(request: Request, caller: Principal) -> Response:
    """Get an archived conversation and a page of its messages, oldest first."""
    offset, limit = _range(request, caller)
    session_id = request.path_params["session_id"]
    found, page = request.services.conversation_archive.read(
        caller, session_id, _EXPIRED.read(request), offset, limit, _read_builder(request)
    )
    return _page_response(request, caller, found, offset, page)


@ROUTES.add(
    f"DELETE {_ARCHIVE}",
    WRITE_OR_ADMIN,
    {204: None},
    query=(_EXPIRED,),
    audited=(DELETE_CONVERSATION,),
)
def delete_archived_conversation(request: Request, caller: Principal) -> Response:
    """Delete an archived conversation."""
    request.services.conversation_archive.delete(
        caller, request.path_params["session_id"], _EXPIRED.read(request)
    )
    return Response(204)


@ROUTES.add(
    f"GET {CONVERSATION}",
    READ,
    {200: ConversationDocument},
    query=(_LAST, _MESSAGES, _FIRST, AFTER, TOTAL, VALUES),
)
def get_conversation(request: Request, caller: Principal) -> Response:
    """Get a conversation and a page of its messages, oldest first."""
    offset, limit = _range(request, caller)
    last = _LAST.read(request)
    if last and not request.query.keys().isdisjoint({_MESSAGES.name, _FIRST.name, AFTER.name}):
        raise ValidationFailed("last", "can't be combined with limit, offset or after")
    session_id = request.path_params["session_id"]
    found, start, page = request.services.conversations.read(
        caller, session_id, -last or offset, limit, _read_builder(request)
    )
    return _page_response(request, caller, found, start, page)


@ROUTES.add(
    f"PUT {CONVERSATION}",
    WRITE,
    {200: ConversationHeadDocument, 201: ConversationHeadDocument},
    request_headers=(ONLY_NEW,),
    if_match="optional",
    idempotent=True,
    audited=(REPLACE_CONVERSATION,),
)
def put_conversation(request: Request, caller: Principal, new: NewConversation) -> Response:
    """Create or replace a whole conversation."""
    session_id = request.path_param("session_id", limits.MAX_NAME_CHARACTERS)
    token = request.optional_idempotency_token(caller)
    stored, is_new = request.services.conversations.put(
        caller, session_id, new, request.replaceable_version, token
    )
    document, location = render_conversation(stored), build_location(session_id)
    return stored_response(document, stored.revision, location, is_new=is_new)


@ROUTES.add(
    f"PATCH {CONVERSATION}",
    WRITE,
    {200: ConversationHeadDocument},
    if_match="optional",
    idempotent=True,
)
def change_conversation(
    request: Request, caller: Principal, change: ConversationChange
) -> Response:
    """Change a conversation's metadata, tags, retention or principals; its messages stay."""
    token = request.optional_idempotency_token(caller)
    session_id = request.path_params["session_id"]
    changed = request.services.conversations.change(
        caller, session_id, change, request.if_match, token
    )
    return json_response(200, render_conversation(changed), changed.revision)


@ROUTES.add(
    f"DELETE {CONVERSATION}",
    WRITE_OR_ADMIN,
    {204: None},
    if_match="optional",
    audited=(DELETE_CONVERSATION,),
)
def delete_conversation(request: Request, caller: Principal) -> Response:
    """Delete a conversation."""
    session_id = request.path_params["session_id"]
    request.services.conversations.delete(caller, session_id, request.if_match)
    return Response(204)


def _range(request: Request, caller: Principal) -> tuple[int, int | None]:
    """Read the index of the first message, and the limit.

    Without a limit, a page has as many messages as fit into a response.
    """
    limit = None if _MESSAGES.text(request) is None else _MESSAGES.read(request)
    after = read_cursor(request, caller)
    if after is None:
        return _FIRST.read(request), limit
    if _FIRST.text(request) is not None:
        raise ValidationFailed(_FIRST.name, "can't be combined with after")
    return int(after), limit


def _read_builder(request: Request) -> BuildPage[_MessagePage]:
    """Build a function that renders a page of messages, as many as fit beside the metadata."""
    render = render_message if VALUES.read(request) is None else render_message_head

    def build(found: Conversation, messages: Iterable[Message]) -> _MessagePage:
        taken: list[Message] = []

        def take() -> Iterator[ConversationMessageDocument]:
            for message in messages:
                taken.append(message)
                yield render(message)

        rendered = truncate_to_limit(take(), found.metadata)
        shown = taken[: len(rendered)]
        size = len(found.metadata) + sum(len(each.text) for each in shown)
        last = shown[-1].index if shown else -1
        return _MessagePage(rendered, last, not shown or len(shown) > 1 or size < _BASE64_BYTES)

    return build


def _page_response(
    request: Request, caller: Principal, found: Conversation, start: int, page: _MessagePage
) -> Response:
    with_metadata = page.has_metadata and VALUES.read(request) is None
    position: MessagePosition = {"offset": start}
    if TOTAL.read(request) != "none":
        position["total"] = found.message_count
    following = max(page.last + 1, start)
    if following < found.end:
        position["next_offset"] = following
        position["next"] = sign_cursor(request, caller, str(following))
    head = render_conversation(found, with_values=with_metadata)
    document: ConversationDocument = {**head, **position, "messages": page.messages}
    return json_response(200, document, found.revision)


def build_location(session_id: str) -> str:
    """Build the address of a conversation."""
    return f"{CONVERSATIONS}/{quote(session_id, safe='')}"

"""Conversations, messages and states, as the API shows them (Agent Memory Protocol §4)."""

from typing import Annotated, Any, Literal, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import (
    VALUE,
    Count,
    JsonObject,
    JsonValue,
    PagePosition,
    Timestamp,
    UncountedPosition,
    Version,
)
from functions.conversations.model import SCHEMA, Conversation, Message, State
from functions.platform.json_text import dumps, loads
from functions.platform.sensitivity import Sensitivity
from functions.platform.values import UNREADABLE


class MessageDocument(TypedDict):
    """A message of a conversation."""

    index: Count
    role: str
    content: NotRequired[Annotated[Any, VALUE]]
    """Absent without `memory.read`, and with `values=omit`."""
    timestamp: Timestamp
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    """Absent without `memory.read`, and with `values=omit`."""
    uses: NotRequired[Annotated[list[str], VALUE]]
    """References of the recalled items that it was made from; absent if there are none."""
    edited_by: NotRequired[str]
    """The principal that changed it last, if that was not its author."""
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
    """Absent without `memory.read`, with `values=omit`, and where a page of messages leaves them no
    room: `limit=0` shows them alone."""
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

    messages: list[MessageDocument]


class ConversationPageDocument(PagePosition):
    """A page of conversations."""

    conversations: list[ConversationHeadDocument]


class ChangedConversationDocument(TypedDict):
    """A conversation after a change of its messages."""

    session_id: str
    revision: Version
    message_count: Count


class AppendedDocument(ChangedConversationDocument):
    """The messages that were appended, and the conversation after them."""

    messages: list[MessageDocument]


class PoppedDocument(ChangedConversationDocument):
    """The message that was taken off, null if there was none; and the conversation after it."""

    message: MessageDocument | None


class ChangedMessageDocument(MessageDocument, ChangedConversationDocument):
    """A changed message, and the conversation after it."""


class RemovedDocument(ChangedConversationDocument):
    """The number of removed messages, and the conversation after their removal."""

    removed: Count


class UploadDocument(TypedDict):
    """Messages that are stored piece by piece before a conversation shows them."""

    upload_id: str
    session_id: str
    message_count: Count
    """The number of its messages; the next ones have this `offset`."""
    expires_at: Timestamp
    """The time when the upload expires, unless another part arrives or the upload is completed."""


class StateDocument(TypedDict):
    """A state of an agent for an owner."""

    agent_id: str
    owner_id: str
    key: str
    value: NotRequired[Annotated[JsonValue, VALUE]]
    unreadable: NotRequired[bool]
    """True if the stored value was damaged or moved: replace it or delete the state."""
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp
    created_by: str


class StateHeadDocument(TypedDict):
    """A state without its value."""

    key: str
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp
    created_by: str


class StatesDocument(PagePosition):
    """A page of an agent's states for an owner, by their keys."""

    agent_id: str
    owner_id: str
    heads: NotRequired[list[StateHeadDocument]]
    """With `values=omit`, instead of `states`."""
    states: NotRequired[Annotated[dict[str, JsonValue], VALUE]]
    """Absent without `memory.read`, and with `values=omit`."""


class AgentStatesDocument(UncountedPosition):
    """A page of an agent's states for all owners."""

    states: list[StateDocument]
    """With `values=omit`, each without its value."""
    hidden: NotRequired[Literal[True]]
    """With an empty list: the caller may not read what is in it."""


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


def render_message(message: Message) -> MessageDocument:
    """Render a message: its index before the JSON that is stored."""
    rendered = orjson.Fragment(b'{"index":%d,%b' % (message.index, message.text[1:]))
    return cast("MessageDocument", rendered)


def render_message_head(message: Message) -> MessageDocument:
    """Render a message without its content and metadata."""
    stored: dict[str, Any] = loads(message.text)
    return {"index": message.index, "role": stored["role"], "timestamp": stored["timestamp"]}


def render_change(conversation: Conversation) -> ChangedConversationDocument:
    """Render what a change of its messages makes of a conversation."""
    return to_document(conversation, ChangedConversationDocument)


def render_changed_message(conversation: Conversation, message: Message) -> ChangedMessageDocument:
    """Render a changed message and its conversation; integers stay exact, as they are stored."""
    added = dumps({"index": message.index, **render_change(conversation)})
    rendered = orjson.Fragment(added[:-1] + b"," + message.text[1:])
    return cast("ChangedMessageDocument", rendered)


def render_upload(upload: Conversation) -> UploadDocument:
    return to_document(upload, UploadDocument, upload_id=upload.generation)


def render_state_head(state: State) -> StateHeadDocument:
    """Render a state without its value."""
    return to_document(state, StateHeadDocument, key=state.address.key)


def render_state(state: State, *, has_value: bool = True) -> StateDocument:
    """Render a state; its value is copied as it is stored."""
    document = to_document(state, StateDocument, **state.address._asdict())
    if state.value is UNREADABLE:
        document["unreadable"] = True
    if not has_value:
        del document["value"]
    return document

"""What a conversation becomes when it is written, and who may use it; `now` is an argument."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from functions.conversations.model import SCHEMA, Conversation, Message
from functions.identity.model import Principal
from functions.platform.clock import to_rfc3339
from functions.platform.conversation_keys import create_generation
from functions.platform.errors import AccessDenied, ValidationFailed, ValueTooLarge
from functions.platform.jsontext import bounded_json, compact_json, exact_value
from functions.platform.lifetimes import expiry
from functions.platform.limits import MAX_CONVERSATION_METADATA_BYTES, MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from functions.conversations.requests import NewConversation, NewMessage

OLD_SCHEMA = "0.9"  # messages without timestamp and metadata
_SCHEMAS = (SCHEMA, OLD_SCHEMA)


def new_conversation(
    caller: Principal, session: str, new: NewConversation, now: int
) -> Conversation:
    """The conversation that a body asks for, without its messages.

    Raises:
        ValidationFailed, ValueTooLarge: the body can't stand as it is.
    """
    if new.session_id not in (None, session):
        raise ValidationFailed("session_id", "is another than the path's")
    if new.version not in _SCHEMAS:
        raise ValidationFailed("version", f"is one of {', '.join(_SCHEMAS)}")
    metadata = bounded_json(new.metadata, "metadata", MAX_CONVERSATION_METADATA_BYTES)
    return Conversation(
        tenant=caller.tenant,
        session=session,
        user=new.user_id,
        creator=caller.id,
        participants=tuple(dict.fromkeys(new.agent_participants)),
        shared_with=tuple(dict.fromkeys(new.shared_with)),
        tags=tuple(dict.fromkeys(new.tags)),
        metadata=metadata,
        generation=create_generation(),
        count=len(new.messages),
        revision=1,
        created=now,
        updated=now,
        sensitivity=new.sensitivity,
        ttl=new.ttl,
        expires=expiry(new.ttl, new.expires_at, now),
        schema=new.version,
    )


def in_place_of(old: Conversation, new: Conversation) -> Conversation:
    """What a conversation becomes when it is replaced: its creator and creation stay."""
    return replace(new, creator=old.creator, created=old.created, revision=old.revision + 1)


def message_texts(messages: Iterable[NewMessage], schema: str, now: int) -> list[bytes]:
    """Messages as compact JSON, which is how they are stored and measured.

    Raises:
        ValidationFailed, ValueTooLarge: one can't stand as it is; `index` says which.
    """
    return [_text(message, schema, now, index) for index, message in enumerate(messages)]


def _text(message: NewMessage, schema: str, now: int, index: int) -> bytes:
    try:
        document = _document(message, schema, now)
        return bounded_json(document, "messages", MAX_MESSAGE_BYTES, said="the message has")
    except (ValidationFailed, ValueTooLarge) as error:
        raise error.at(index) from None


def _document(message: NewMessage, schema: str, now: int) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.timestamp is not None or schema == SCHEMA:
        moment = now if message.timestamp is None else message.timestamp
        document["timestamp"] = to_rfc3339(moment)
    if message.metadata or schema == SCHEMA:
        document["metadata"] = message.metadata
    return document


def migrated(conversation: Conversation, message: Message) -> Message:
    """A message as the present schema has it, whichever it was stored under (§4.1 `version`)."""
    if conversation.schema == SCHEMA:
        return message
    written: dict[str, Any] = exact_value(message.text)
    filled = {"timestamp": to_rfc3339(conversation.created), "metadata": {}}
    ordered = {"role": written["role"], "content": written["content"], **filled, **written}
    return Message(message.index, compact_json(ordered, "messages"))


def may_read(caller: Principal, conversation: Conversation) -> bool:
    """Its owners, and whom they name; nobody else (contract §9)."""
    return caller.id in conversation.owners or caller.id in conversation.shared_with


def assert_may_read(caller: Principal, conversation: Conversation) -> None:
    """Raises `AccessDenied` for whoever may not read it."""
    if not may_read(caller, conversation):
        raise AccessDenied("this conversation is neither yours nor shared with you")


def assert_may_write(caller: Principal, conversation: Conversation) -> None:
    """Raises `AccessDenied` for whoever isn't among its owners."""
    assert_may_read(caller, conversation)
    if caller.id not in conversation.owners:
        raise AccessDenied("this conversation is shared with you to read only")

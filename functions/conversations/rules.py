"""What conversations and states become when they are written, and who may use them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from functions.conversations.model import (
    SCHEMA,
    Conversation,
    Message,
    State,
    StateAddress,
)
from functions.identity.model import Principal
from functions.platform.clock import to_rfc3339
from functions.platform.conversation_keys import create_generation
from functions.platform.errors import AccessDenied, ValidationFailed, ValueTooLarge
from functions.platform.json_text import dumps_checked, loads
from functions.platform.limits import MAX_CONVERSATION_METADATA_BYTES, MAX_MESSAGE_BYTES
from functions.platform.ttl import compute_expiry

if TYPE_CHECKING:
    from functions.conversations.requests import NewConversation, NewMessage

OLD_SCHEMA = "0.9"  # messages without timestamp and metadata
_SCHEMAS = (SCHEMA, OLD_SCHEMA)


def build_conversation(
    caller: Principal, session: str, new: NewConversation, now: int
) -> Conversation:
    """Build the conversation that a body asks for, without its messages.

    Raises:
        ValidationFailed: `session_id` or `version` does not fit, or the time to live is no
            duration or lies in the past.
        ValueTooLarge: the metadata have over 65,536 bytes of compact JSON.
    """
    if new.session_id not in (None, session):
        raise ValidationFailed("session_id", "is another than the path's")
    if new.version not in _SCHEMAS:
        raise ValidationFailed("version", f"is one of {', '.join(_SCHEMAS)}")
    metadata = dumps_checked(new.metadata, "metadata", MAX_CONVERSATION_METADATA_BYTES)
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
        expires=compute_expiry(new.ttl, new.expires_at, now),
        schema=new.version,
    )


def supersede(old: Conversation, new: Conversation) -> Conversation:
    """Build what a conversation becomes when it is replaced: its creator and creation stay."""
    return replace(new, creator=old.creator, created=old.created, revision=old.revision + 1)


def build_messages(
    messages: Iterable[NewMessage], schema: str, now: int, first: int = 0
) -> list[Message]:
    """Build messages from an index on; their compact JSON is what is stored and measured.

    Raises:
        ValidationFailed: one cannot be written as JSON; the error's `index` says which.
        ValueTooLarge: one has over 65,536 bytes; the error's `index` says which.
    """
    return [
        Message(first + index, _render(message, schema, now, index))
        for index, message in enumerate(messages)
    ]


def _render(message: NewMessage, schema: str, now: int, index: int) -> bytes:
    try:
        document = _document(message, schema, now)
        return dumps_checked(document, "messages", MAX_MESSAGE_BYTES, subject="the message has")
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


def migrate_message(conversation: Conversation, message: Message) -> Message:
    """Convert a message to the present schema (§4.1 `version`)."""
    if conversation.schema == SCHEMA:
        return message
    stored: dict[str, Any] = loads(message.text)
    defaults = {"timestamp": to_rfc3339(conversation.created), "metadata": {}}
    ordered = {"role": stored["role"], "content": stored["content"], **defaults, **stored}
    return Message(message.index, dumps_checked(ordered, "messages"))


def assert_may_read(caller: Principal, conversation: Conversation) -> None:
    """Check that the caller is an owner, or among those it is shared with (contract §9).

    Raises:
        AccessDenied: the caller is neither.
    """
    if caller.id not in conversation.owners and caller.id not in conversation.shared_with:
        raise AccessDenied("this conversation is neither yours nor shared with you")


def assert_may_write(caller: Principal, conversation: Conversation) -> None:
    """Check that the caller is an owner.

    Raises:
        AccessDenied: the caller is not.
    """
    assert_may_read(caller, conversation)
    if caller.id not in conversation.owners:
        raise AccessDenied("this conversation is shared with you to read only")


def may_read_state(caller: Principal, state: State) -> bool:
    """Whether the caller is the state's agent or author, or whom it is about."""
    return caller.id in (state.address.agent, state.address.owner, state.author)


def assert_may_write_state(caller: Principal, address: StateAddress, state: State | None) -> None:
    """Check that the caller may write the state that is stored under an address, if any.

    An agent writes its own; users and coordinators write for any agent what they made.

    Raises:
        AccessDenied: it is another agent's, or somebody else made it.
    """
    if caller.id != address.agent and not caller.may_coordinate:
        raise AccessDenied("an agent writes its own states alone")
    if state is not None and caller.id not in (address.agent, state.author):
        raise AccessDenied("somebody else made this state")

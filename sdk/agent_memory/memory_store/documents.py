"""Convert conversations from and to JSON documents, for both stores (Agent Memory Protocol §4)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent_memory.memory_store.conversation import ConversationContext, Message, moment
from agent_memory.memory_store.json_values import fitting
from agent_memory.memory_store.names import assert_names, assert_role, assert_session

Document = dict[str, Any]
_SENSITIVITIES = (None, "public", "internal", "confidential", "restricted")
_LISTS = ("agent_participants", "shared_with", "tags")


def document_of(session_id: str, conversation: ConversationContext) -> Document:
    """Return a conversation in the form of the service.

    Raises:
        TypeError: it has a value that isn't JSON.
        ValueError: it is of another session, a moment has no time zone, or an id, a role or a label
            has the wrong length.
        TooLargeError: a message or the metadata is too large.
    """
    assert_session(session_id)
    if conversation.session_id != session_id:
        raise ValueError("the conversation's session_id differs from the one to store it under")
    if conversation.sensitivity not in _SENSITIVITIES:
        raise ValueError(f"sensitivity must be one of {', '.join(map(str, _SENSITIVITIES))}")
    ends = conversation.expires_at
    lists = {name: list(dict.fromkeys(getattr(conversation, name))) for name in _LISTS}
    for name, names in lists.items():
        assert_names(name, names)
    return lists | {
        "messages": [_said(message) for message in conversation.messages],
        "metadata": fitting(conversation.metadata, "metadata"),
        "sensitivity": conversation.sensitivity,
        "expires_at": None if ends is None else _text(ends),
    }


def _said(message: Message) -> Document:
    assert_role(message.role)
    said = {
        "role": message.role,
        "content": message.content,
        "timestamp": _text(message.timestamp),
        "metadata": message.metadata,
    }
    return dict(fitting(said, "message"))


def _text(at: datetime) -> str:
    return moment(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def conversation_of(document: Mapping[str, Any], messages: list[Document]) -> ConversationContext:
    """Return the conversation of a document and its messages."""
    ends = document["expires_at"]
    return ConversationContext(
        session_id=document["session_id"],
        messages=[_message(message) for message in messages],
        metadata=document["metadata"],
        sensitivity=document["sensitivity"],
        expires_at=None if ends is None else datetime.fromisoformat(ends),
        agent_participants=list(document["agent_participants"]),
        shared_with=list(document["shared_with"]),
        tags=list(document["tags"]),
    )


def _message(document: Document) -> Message:
    said_at = datetime.fromisoformat(document["timestamp"])
    return Message(document["role"], document["content"], said_at, document["metadata"])


def listed(document: Mapping[str, Any]) -> Document:
    """Return a conversation's fields in lists."""
    return {
        "session_id": document["session_id"],
        "user_id": document["user_id"],
        "created_at": datetime.fromisoformat(document["created_at"]),
        "last_updated": datetime.fromisoformat(document["updated_at"]),
        "summary": document["metadata"].get("summary"),
        "message_count": document["message_count"],
        "metadata": document["metadata"],
        "agent_participants": list(document["agent_participants"]),
        "tags": list(document["tags"]),
    }


def assert_page(limit: int, offset: int) -> None:
    """Raise `ValueError` if the limit or the offset is negative."""
    if limit < 0 or offset < 0:
        raise ValueError("limit and offset must be 0 or more")

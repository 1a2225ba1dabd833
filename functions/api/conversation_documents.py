"""How conversations and states look to callers (Agent Memory Protocol §4; contract §9)."""

from typing import Any

import orjson

from functions.api.documents import Document
from functions.conversations.model import SCHEMA, Conversation, Message, State
from functions.platform.clock import to_rfc3339


def conversation_document(conversation: Conversation) -> Document:
    """A conversation without its messages. `version` is that of the schema (§4.1)."""
    ends = conversation.expires
    return {
        "session_id": conversation.session,
        "user_id": conversation.user,
        "created_by": conversation.creator,
        "agent_participants": conversation.participants,
        "shared_with": conversation.shared_with,
        "tags": conversation.tags,
        "metadata": orjson.Fragment(conversation.metadata),
        "version": SCHEMA,
        "revision": conversation.revision,
        "message_count": conversation.count,
        "sensitivity": conversation.sensitivity,
        "ttl": conversation.ttl,
        "expires_at": None if ends is None else to_rfc3339(ends),
        "created_at": to_rfc3339(conversation.created),
        "updated_at": to_rfc3339(conversation.updated),
    }


def message_document(message: Message) -> Any:
    """A message; its text is spliced in as it was stored."""
    return orjson.Fragment(b'{"index":%d,%b' % (message.index, message.text[1:]))


def state_document(state: State) -> Document:
    """A state; its value is spliced in as it was stored."""
    return {
        "agent_id": state.address.agent,
        "owner_id": state.address.owner,
        "key": state.address.key,
        "value": orjson.Fragment(state.value),
        "sensitivity": state.sensitivity,
        "version": state.version,
        "created_at": to_rfc3339(state.created),
        "updated_at": to_rfc3339(state.updated),
        "created_by": state.author,
    }

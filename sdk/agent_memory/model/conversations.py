"""Conversations and agents' states (Agent Memory Protocol §3).

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationMessage(Model):
    """A message of a conversation.

    Attributes:
        content: Absent without `memory.read`, and with `values=omit`.
        metadata: Absent without `memory.read`, and with `values=omit`.
        uses: References of the recalled items that it was made from; absent without any.
        edited_by: The principal that changed it last; absent if it was the author.
        edited_at: The time of that change.
        unreadable: True if the stored text was damaged or moved: replace it or delete the
            message.
    """

    index: int
    role: str
    content: Any = None
    timestamp: datetime
    metadata: dict[str, Any] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    edited_by: str | None = None
    edited_at: datetime | None = None
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMessage(ConversationMessage):
    """A message after a change."""

    session_id: str
    revision: int
    message_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedMessages(Model):
    """A conversation after an append."""

    session_id: str
    revision: int
    message_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationHead(Model):
    """A conversation without its messages.

    Attributes:
        tags: Labels to query by.
        unreadable: True if the stored metadata was damaged or moved: replace it or delete the
            conversation.
        metadata: Absent without `memory.read`, with `values=omit`, and if messages fill the
            response: `limit=0` returns the metadata alone.
        version: The version of the schema (Agent Memory Protocol §4.1).
        revision: Counts the changes; send it as If-Match.
        sensitivity: `confidential` and `restricted` conversations are stored encrypted.
        searchable: True if searches find its messages; null: the deployment's default.
        learn: If false, the messages are never sent to a model to learn from them.
        ttl: `duration:` and an ISO 8601 duration, or null: no end.
        expires_at: The time of its expiry. It is not found afterwards.
    """

    session_id: str
    user_id: str
    created_by: str
    agent_participants: tuple[str, ...]
    shared_with: tuple[str, ...]
    tags: tuple[str, ...]
    unreadable: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    version: str
    revision: int
    message_count: int
    sensitivity: Sensitivity | None = None
    searchable: bool = False
    learn: bool = False
    ttl: str | None = None
    expires_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(ConversationHead):
    """A conversation with its messages."""

    messages: tuple[ConversationMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class State(Model):
    """A value that an agent keeps for an owner.

    Attributes:
        value: Absent without `memory.read`.
        unreadable: True if the stored value was damaged or moved: replace it or delete the
            state.
        sensitivity: `confidential` and `restricted` values are stored encrypted.
        version: Counts the changes; send it as If-Match.
    """

    agent_id: str
    owner_id: str
    key: str
    value: Any = None
    unreadable: bool = False
    sensitivity: Sensitivity | None = None
    version: int
    created_at: datetime
    updated_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateHead(Model):
    """A state without its value.

    Attributes:
        sensitivity: `confidential` and `restricted` values are stored encrypted.
        version: Counts the changes; send it as If-Match.
    """

    key: str
    sensitivity: Sensitivity | None = None
    version: int
    created_at: datetime
    updated_at: datetime
    created_by: str

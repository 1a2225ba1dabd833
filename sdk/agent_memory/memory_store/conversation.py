"""A conversation and its messages (Agent Memory Protocol §4.1)."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent_memory.memory_store.revisions import Revision


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - a message is said where the client is


def moment(given: datetime) -> datetime:
    """Return the stored form of a moment: in UTC, cut to milliseconds.

    Raises:
        TypeError: it is no datetime.
        ValueError: it has no time zone.
    """
    if not isinstance(given, datetime):
        raise TypeError(f"a moment must be a datetime, not {type(given).__name__}")
    if given.utcoffset() is None:
        raise ValueError("a moment needs a time zone: datetime.now(UTC), say")
    there = given.astimezone(UTC)
    return there.replace(microsecond=there.microsecond // 1000 * 1000)


@dataclass
class Message:
    """A message of a conversation.

    Attributes:
        role: a name of 1 to 64 characters, such as `user` or `assistant`.
        content: any JSON value.
        timestamp: its time; stored in UTC, to the millisecond.
        metadata: further data, in JSON.

    Raises:
        TypeError, ValueError: the timestamp isn't a datetime with a time zone.
    """

    role: str
    content: Any
    timestamp: datetime = field(default_factory=_now)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.timestamp = moment(self.timestamp)


@dataclass
class ConversationContext:
    """A conversation.

    Attributes:
        session_id: its session.
        messages: oldest first.
        metadata: of the conversation, in JSON; lists show its `summary`.
        agent_participants: the agents in it, which read and write it.
        shared_with: principals that read it.
        tags: labels.
        sensitivity: `public`, `internal`, `confidential` or `restricted`; the service encrypts the
            last two.
        expires_at: when it expires; stored in UTC, to the millisecond.
        revision: its revision and store, set by the store that returned or stored it. It only
            replaces this revision.
    """

    session_id: str
    messages: list[Message] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    agent_participants: list[str] = field(default_factory=list)
    shared_with: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    sensitivity: str | None = None
    expires_at: datetime | None = None
    revision: Revision | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.expires_at is not None:
            self.expires_at = moment(self.expires_at)

"""Conversations, their messages, and agents' states (Agent Memory Protocol §3, §4)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from functions.platform.idempotency import RequestHistory
from functions.platform.sensitivity import Sensitivity

SCHEMA = "1.0"


class RemovedRange(NamedTuple):
    """Messages that are hidden and not yet deleted: from `first` to before `end`.

    `revision` is that of their removal.
    """

    first: int
    end: int
    revision: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages. Times are epoch ms; `metadata` is JSON text.

    Attributes:
        lister: the principal that put it into its user's list; None for the user.
        generation: the name of its set of messages; a replacement writes another set.
        end: the index of the next message; above `count` after messages were removed.
        removed: the ranges that readers skip until they are deleted.
        rewritten_at: the revision of the latest change of messages other than an append; 0: never.
        searchable: whether its messages are searched; None for the deployment's setting.
        learn: whether strategies may send it to a model; None: they may.
        details_at: the revision at which its details were written.
        requested_at: the revision that the latest request led to.
    """

    tenant: str
    session_id: str
    user_id: str
    created_by: str
    metadata: bytes
    generation: str
    message_count: int
    end: int
    revision: int
    created_at: int
    updated_at: int
    agent_participants: tuple[str, ...] = ()
    shared_with: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sensitivity: Sensitivity | None = None
    ttl: str | None = None
    expires_at: int | None = None
    schema: str = SCHEMA
    lister: str | None = None
    removed: tuple[RemovedRange, ...] = ()
    rewritten_at: int = 0
    searchable: bool | None = None
    learn: bool | None = None
    details_at: int = 1
    requests: RequestHistory | None = None
    requested_at: int = 0

    @property
    def owners(self) -> frozenset[str]:
        """Return the principals that may read and write it: its user and participants."""
        return frozenset({self.user_id, *self.agent_participants})

    @property
    def is_dense(self) -> bool:
        """Tell whether its messages have the indexes from 0 on without gaps."""
        return self.message_count == self.end

    def has_expired(self, now: int) -> bool:
        """Tell whether it has expired: reads don't return it."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `text` is the JSON of role, content, timestamp, metadata and uses.

    Attributes:
        created_by: the principal that appended it; None if unknown.
    """

    index: int
    text: bytes
    created_by: str | None = None


class ListedConversation(NamedTuple):
    """A conversation in a list; its metadata are read on request."""

    position: str
    head: Conversation
    load: Callable[[], Conversation]


class Use(NamedTuple):
    """A message whose `uses` name an item, and its position in the list of such messages."""

    list_position: str
    conversation: Conversation
    message: Message


class StateAddress(NamedTuple):
    """The natural key of a state: an agent, an owner, and a name."""

    agent_id: str
    owner_id: str
    key: str


class State(NamedTuple):
    """A state. Times are epoch ms; `value` is JSON text."""

    address: StateAddress
    value: bytes
    version: int
    created_at: int
    updated_at: int
    created_by: str
    sensitivity: Sensitivity | None = None
    request: bytes | None = None


Page = TypeVar("Page")
BuildPage: TypeAlias = Callable[[Conversation, Iterable[Message]], Page]
"""Makes a page of a conversation's messages, which are read as it takes them."""

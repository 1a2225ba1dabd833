"""Conversations, their messages, and agents' states (Agent Memory Protocol §3, §4)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from functions.platform.idempotency import RequestHistory
from functions.platform.sensitivity import Sensitivity

SCHEMA = "1.0"


class RemovedRange(NamedTuple):
    """Messages that are no longer shown and not yet deleted: from `first` to before `end`.

    `revision` is that of their removal.
    """

    first: int
    end: int
    revision: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages. Times are epoch ms; `metadata` is JSON text.

    Attributes:
        lister: who put it into its user's list, if that was somebody else.
        generation: names its set of messages: a replacement writes another one.
        count: how many messages it has.
        end: the index of the next message; over `count` once messages were removed.
        removed: what readers pass over until it is deleted.
        removed_at: the revision of the latest removal of messages; 0: never.
        details_at: the revision at which its details were written.
        requests: the requests that changed it.
        requested_at: the revision that the latest of them led to.
    """

    tenant: str
    session: str
    user: str
    creator: str
    metadata: bytes
    generation: str
    count: int
    end: int
    revision: int
    created: int
    updated: int
    participants: tuple[str, ...] = ()
    shared_with: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sensitivity: Sensitivity | None = None
    ttl: str | None = None
    expires: int | None = None
    schema: str = SCHEMA
    lister: str | None = None
    removed: tuple[RemovedRange, ...] = ()
    removed_at: int = 0
    details_at: int = 1
    requests: RequestHistory | None = None
    requested_at: int = 0

    @property
    def owners(self) -> frozenset[str]:
        """Who may read and write it: its user and its participants."""
        return frozenset({self.user, *self.participants})

    @property
    def is_dense(self) -> bool:
        """Whether its messages have the indexes from 0 on without gaps."""
        return self.count == self.end

    def has_expired(self, now: int) -> bool:
        """Whether its retention is over: no read returns it any more."""
        return self.expires is not None and self.expires <= now


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `text` is the JSON of role, content, timestamp and metadata."""

    index: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Upload:
    """Messages that are stored piece by piece before a conversation shows them.

    Attributes:
        id: names them; it becomes the generation of the conversation.
        writer: who began the upload.
        count: how many messages it has.
        expires: when it is given up (epoch ms).
    """

    id: str
    tenant: str
    session: str
    writer: str
    schema: str
    count: int
    expires: int
    sensitivity: Sensitivity | None = None


class StateAddress(NamedTuple):
    """The natural key of a state: an agent, whom it is about, and a name."""

    agent: str
    owner: str
    key: str


class State(NamedTuple):
    """A state. Times are epoch ms; `value` is JSON text.

    Attributes:
        author: who made it.
        request: the token of the request that wrote it, if it had one.
    """

    address: StateAddress
    value: bytes
    version: int
    created: int
    updated: int
    author: str
    sensitivity: Sensitivity | None = None
    request: bytes | None = None


Page = TypeVar("Page")
BuildPage: TypeAlias = Callable[[Conversation, Iterable[Message]], Page]
"""Makes a page of a conversation's messages, which are read as it takes them."""

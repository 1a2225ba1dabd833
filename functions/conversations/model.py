"""Conversations, their messages, and agents' states (Agent Memory Protocol §3, §4; contract §9)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from functions.platform.sensitivity import Sensitivity

SCHEMA = "1.0"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages. Times are epoch ms; `metadata` is JSON text.

    `generation` names its set of messages: a replacement writes another one.
    """

    tenant: str
    session: str
    user: str
    creator: str
    participants: tuple[str, ...]
    shared_with: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: bytes
    generation: str
    count: int
    revision: int
    created: int
    updated: int
    sensitivity: Sensitivity | None = None
    ttl: str | None = None
    expires: int | None = None
    schema: str = SCHEMA

    @property
    def owners(self) -> frozenset[str]:
        """Who may read and write it: its creator, its user and its agents."""
        return frozenset({self.creator, self.user, *self.participants})

    def has_expired(self, now: int) -> bool:
        """Whether its retention is over: no read returns it any more."""
        return self.expires is not None and self.expires <= now


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `text` is the JSON of role, content, timestamp and metadata."""

    index: int
    text: bytes


@dataclass(frozen=True, slots=True)
class StateAddress:
    """The natural key of a state: an agent, whom it is about, and a name."""

    agent: str
    owner: str
    key: str


@dataclass(frozen=True, slots=True)
class State:
    """A state. Times are epoch ms; `value` is JSON text."""

    address: StateAddress
    value: bytes
    version: int
    created: int
    updated: int
    author: str
    sensitivity: Sensitivity | None = None


Page = TypeVar("Page")
BuildPage: TypeAlias = Callable[[Iterable[Message]], Page]
"""Makes a page of messages, which are read as it takes them."""

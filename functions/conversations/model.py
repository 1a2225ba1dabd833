"""Conversations and messages (Agent Memory Protocol §3, §4.1; contract §9)."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from functions.platform.fields import AgentId, Moment, Name, Tag

Sensitivity = Literal["public", "internal", "confidential", "restricted"]
Role = Annotated[str, Field(min_length=1, max_length=64)]
Principals = Annotated[list[AgentId], Field(max_length=50)]

SCHEMA = "1.0"
MOST_MESSAGE_BYTES = MOST_METADATA_BYTES = 65_536
MOST_IN_APPEND = 50
ENCRYPTED = frozenset({"confidential", "restricted"})


class NewMessage(BaseModel):
    """A message: `role`, `content`, `timestamp` (default: now), `metadata` (§4.1)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Role
    content: Any
    timestamp: Moment | None = None
    metadata: dict[str, Any] = {}


class NewMessages(BaseModel):
    """Body of an append: a message as it is, or several as `messages`, all or none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Role | None = None
    content: Any = None
    timestamp: Moment | None = None
    metadata: dict[str, Any] = {}
    messages: Annotated[list[NewMessage], Field(min_length=1, max_length=MOST_IN_APPEND)] = []

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        given = self.model_fields_set
        if given != {"messages"} and not ({"role", "content"} <= given and "messages" not in given):
            raise ValueError("give role and content of a message, or messages")
        return self

    @property
    def all(self) -> list[NewMessage]:
        """The messages, in their order."""
        if self.messages:
            return self.messages
        given = {name: getattr(self, name) for name in NewMessage.model_fields}
        return [NewMessage.model_construct(**given)]


class NewConversation(BaseModel):
    """Body of `PUT /api/v1/conversations/{session_id}`: the whole of a conversation."""

    model_config = ConfigDict(extra="forbid", strict=True)

    session_id: Name | None = None
    user_id: AgentId
    messages: list[NewMessage] = []
    metadata: dict[str, Any] = {}
    agent_participants: Principals = []
    shared_with: Principals = []
    tags: Annotated[list[Tag], Field(max_length=50)] = []
    version: str = SCHEMA
    sensitivity: Sensitivity | None = None
    ttl: str | None = Field(default=None, max_length=128)
    expires_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages. Times are epoch ms; `metadata` is JSON text."""

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
        """Who reads and writes it: its creator, its user and its agents."""
        return frozenset({self.creator, self.user, *self.participants})

    @property
    def sealed(self) -> bool:
        return self.sensitivity in ENCRYPTED

    def expired(self, now: int) -> bool:
        """Whether its retention is over: no read returns it any more."""
        return self.expires is not None and self.expires <= now


@dataclass(frozen=True, slots=True)
class Message:
    """A message in its place; `text` is the JSON of role, content, timestamp and metadata."""

    index: int
    text: bytes

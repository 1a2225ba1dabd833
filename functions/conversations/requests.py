"""Bodies of requests about conversations and states (Agent Memory Protocol §3, §4)."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from functions.conversations.model import SCHEMA, Sensitivity
from functions.platform.fields import AgentId, Moment, Name, Tag
from functions.platform.limits import (
    MAX_APPENDED_MESSAGES,
    MAX_LABEL_CHARACTERS,
    MAX_OWNERS,
    MAX_TAGS,
    MAX_TTL_CHARACTERS,
)

Role = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARACTERS)]
Principals = Annotated[list[AgentId], Field(max_length=MAX_OWNERS)]


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
    messages: Annotated[
        list[NewMessage], Field(min_length=1, max_length=MAX_APPENDED_MESSAGES)
    ] = []

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
    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS)] = []
    version: str = SCHEMA
    sensitivity: Sensitivity | None = None
    ttl: str | None = Field(default=None, max_length=MAX_TTL_CHARACTERS)
    expires_at: Moment | None = None


class NewState(BaseModel):
    """Body of `PUT /api/v1/agents/{agent_id}/state/{owner_id}/{key}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    value: Any
    sensitivity: Sensitivity | None = None

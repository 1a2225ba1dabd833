"""Bodies of requests about conversations and states (Agent Memory Protocol §3, §4)."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from functions.conversations.model import SCHEMA
from functions.platform import limits
from functions.platform.errors import EntryNotFound, NotFound
from functions.platform.references import build_reference, hash_reference, parse_reference
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import (
    AgentId,
    ChangeModel,
    Name,
    RequestModel,
    Tag,
    Timestamp,
    Ttl,
)

Role = Annotated[str, Field(min_length=1, max_length=limits.MAX_LABEL_CHARACTERS)]
Principals = Annotated[list[AgentId], Field(max_length=limits.MAX_OWNERS)]


def _spell_references(texts: list[str]) -> list[str]:
    """Write each reference as recall does; two of one item count once."""
    spelled = {}
    try:
        for each in texts:
            source, parts = parse_reference(each)
            spelled[hash_reference(each)] = build_reference(source, *parts)
    except (EntryNotFound, NotFound):
        raise ValueError("must be references from a recall") from None
    return list(spelled.values())


Uses = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=limits.MAX_REFERENCE_CHARACTERS)]],
    Field(max_length=limits.MAX_USES),
    AfterValidator(_spell_references),
]


class NewMessage(RequestModel):
    """A message: `role`, `content`, `timestamp` (default: now), `metadata` (§4.1)."""

    role: Role
    content: Any
    timestamp: Timestamp | None = None
    metadata: dict[str, Any] = Field(default={})
    uses: Uses = Field(default=[])
    """References of the recalled items from which it was made."""


def _assert_few_uses(messages: list[NewMessage]) -> list[NewMessage]:
    if sum(len(each.uses) for each in messages) > limits.MAX_STORED_USES:
        raise ValueError(
            f"must have at most {limits.MAX_STORED_USES} uses together; upload them in parts"
        )
    return messages


_StoredMessages = Annotated[list[NewMessage], AfterValidator(_assert_few_uses)]


class NewMessages(RequestModel):
    """Body of an append: the fields of one message, or several `messages`, all or none."""

    role: Role | None = None
    content: Any = None
    timestamp: Timestamp | None = None
    metadata: dict[str, Any] = Field(default={})
    uses: Uses = Field(default=[])
    """References of the recalled items from which it was made."""
    messages: Annotated[
        list[NewMessage], Field(min_length=1, max_length=limits.MAX_APPENDED_MESSAGES)
    ] = Field(default_factory=list)  # shown as a default, it would contradict the least length
    expect_created_by: (
        Annotated[list[AgentId], Field(min_length=1, max_length=limits.MAX_ACL_ENTRIES)] | None
    ) = None
    """The expected creators; nothing is appended to a conversation of another creator."""
    expect_user_id: AgentId | None = None
    """The expected user; nothing is appended to a conversation of another user."""
    expect_trusted: bool = False
    """If true, nothing is appended unless its creator is you, an agent of your `agent_type`, a
    coordinator, a user, or an administrator."""

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        given = {name for name in self.model_fields_set if not name.startswith("expect_")}
        if given != {"messages"} and not ({"role", "content"} <= given and "messages" not in given):
            raise ValueError("send `role` and `content` of one message, or `messages`")
        if sum(1 + len(each.uses) for each in self.all) > limits.MAX_APPENDED_WRITES:
            most = limits.MAX_APPENDED_WRITES
            raise ValueError(
                f"must have at most {most} messages and uses together; append fewer at a time"
            )
        return self

    @property
    def all(self) -> list[NewMessage]:
        """The messages, in their order."""
        if self.messages:
            return self.messages
        given = {name: getattr(self, name) for name in NewMessage.model_fields}
        return [NewMessage.model_construct(**given)]


class NewConversation(RequestModel):
    """Body of `PUT /api/v1/conversations/{session_id}`: the whole of a conversation."""

    session_id: Name | None = None
    user_id: AgentId
    messages: _StoredMessages = Field(default=[])
    upload_id: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None = None
    """An upload that has the messages, instead of `messages`."""
    metadata: dict[str, Any] = Field(default={})
    agent_participants: Principals = Field(default=[])
    shared_with: Principals = Field(default=[])
    tags: Annotated[list[Tag], Field(max_length=limits.MAX_TAGS)] = Field(default=[])
    """Labels to query by."""
    version: str = SCHEMA
    """The version of the schema (Agent Memory Protocol §4.1)."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""
    searchable: bool | None = None
    """If false, no search finds the messages. Null: the deployment's default, which is true unless
    its operator has changed it."""
    learn: bool | None = None
    """If false, the messages are never sent to a model to learn from them. Null: they may be."""
    ttl: Ttl | None = None
    """`task_lifetime`, `duration:` and an ISO 8601 duration, such as `duration:PT24H`, or null: it
    does not expire. `expires_at` takes precedence."""
    expires_at: Timestamp | None = None
    """The time of its expiry. It is not found afterwards."""

    @model_validator(mode="after")
    def _messages_or_upload(self) -> Self:
        if self.upload_id is not None and self.messages:
            raise ValueError("send `messages` or `upload_id`")
        return self


class _Change(ChangeModel):
    @model_validator(mode="after")
    def _assert_given(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must have a field to change")
        return self


class ConversationChange(_Change):
    """Body of `PATCH /api/v1/conversations/{session_id}`: only the given fields change."""

    metadata: dict[str, Any] = Field(default={})
    """Replaces the former metadata."""
    agent_participants: Principals = Field(default=[])
    shared_with: Principals = Field(default=[])
    tags: Annotated[list[Tag], Field(max_length=limits.MAX_TAGS)] = Field(default=[])
    """Labels to query by."""
    searchable: bool | None = None
    """If false, no search finds the messages; null: the deployment's default."""
    learn: bool | None = None
    """If false, the messages are never sent to a model to learn from them. Null: they may be."""
    ttl: Ttl | None = None
    """`duration:` and an ISO 8601 duration from now on, or null: no end."""
    expires_at: Timestamp | None = None
    """The time of its expiry; null: never."""


class MessageChange(_Change):
    """Body of `PATCH …/messages/{index}`: only the given fields change."""

    role: Role = ""
    content: Any = None
    metadata: dict[str, Any] = Field(default={})
    """Replaces the former metadata."""


class NewUpload(RequestModel):
    """Body of `POST …/uploads`: the fields that the conversation will have."""

    version: str = SCHEMA
    """The version of the messages' schema."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""


class UploadedMessages(RequestModel):
    """Body of `POST …/uploads/{upload_id}/messages`."""

    offset: Annotated[int, Field(ge=0)]
    """The index of the first one: how many messages the upload has."""
    messages: Annotated[_StoredMessages, Field(min_length=1)]


class NewState(RequestModel):
    """Body of `PUT /api/v1/agents/{agent_id}/state/{owner_id}/{key}`."""

    value: Any
    """Any JSON, at most {MAX_STATE_BYTES} of compact UTF-8."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""

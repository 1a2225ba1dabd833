"""The six tools that a model gets by default: they need no namespaces, tiers or versions."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, model_validator

from agent_memory import AsyncClient, Entry
from agent_memory.mcp.schemas import Arguments, JsonObject, Tags
from agent_memory.mcp.tools import Tool
from agent_memory.requests import quote_segment

_MAX_TOKENS = 2_000
_TIER, _NONCE = 4, 16  # the positions of the tier's letter and of the nonce in an id


def _assert_not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[
    str,
    AfterValidator(_assert_not_blank),
    Field(min_length=1, json_schema_extra={"pattern": r"\S"}),
]
User = Annotated[
    str | None,
    Field(min_length=1, description="The user whom it is about; leave it out for your own memory"),
]
Limit = Annotated[int, Field(ge=1, le=100, description="The most results")]


class Remember(Arguments):
    """Store one memory for later sessions, about a user or for yourself.

    Write one whole sentence with names, such as "Ada pays by invoice". The same text is stored
    once. Do not store passwords or keys.
    """

    text: Annotated[Text | None, Field(description="The memory, in words")] = None
    value: Annotated[JsonObject | None, Field(description="The memory as a JSON object")] = None
    user: User = None
    tags: Tags = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.text is None) == (self.value is None):
            raise ValueError("give text or value")
        return self


class Say(Arguments):
    """Append messages to a conversation, so that they are found in later sessions.

    A conversation that does not exist is created.
    """

    session_id: Annotated[Text, Field(description="The name of the conversation")]
    text: Annotated[Text, Field(description="What was said")]
    role: Annotated[str, Field(min_length=1, description="`user` or `assistant`")] = "user"
    user: User = None
    uses: Annotated[
        list[str],
        Field(max_length=50, description="References from `recall` that the text was made from"),
    ] = Field(default_factory=list)


class RecallMemories(Arguments):
    """Find what is known about a question: memories, facts, and messages of conversations.

    Use it before you answer a question about a user, an agreement, or earlier work. `text` quotes
    the results; each line begins with a reference.
    """

    query: Annotated[Text, Field(description="The question, in words")]
    user: User = None
    since: Annotated[
        AwareDatetime | None, Field(description="Only what happened then or later")
    ] = None
    until: Annotated[AwareDatetime | None, Field(description="Only what happened earlier")] = None
    limit: Limit = 10


class Forget(Arguments):
    """Delete one item, by its reference, or all memory about a user."""

    reference: Annotated[
        Text | None, Field(description="From `recall` or `list_memories`, such as m.chat-42.3")
    ] = None
    user: User = None
    everything: Annotated[
        bool, Field(description="True to delete all that is stored about the user")
    ] = False

    @model_validator(mode="after")
    def _names_one_target(self) -> Self:
        is_user = self.user is not None and self.everything
        if (self.reference is not None) == is_user:
            raise ValueError("give a reference, or a user with everything=true")
        return self


class HandOver(Arguments):
    """Hand one of your tasks over to another agent, with a note about the progress."""

    task_id: Text
    to: Annotated[Text, Field(description="The agent that continues")]
    note: Annotated[
        str | None, Field(min_length=1, max_length=3500, description="What it should know")
    ] = None
    user: Annotated[
        str | None,
        Field(min_length=1, max_length=500, description="The user whom the task is about"),
    ] = None


class ListMemories(Arguments):
    """List the memories about a user, or your own, newest first.

    If there are more, the result has `next`.
    """

    user: User = None
    limit: Limit = 20
    after: Annotated[str | None, Field(description="`next` of the previous result")] = None


class RememberedText(BaseModel):
    """A stored memory."""

    reference: str
    text: str
    created_at: datetime


class SaidResult(BaseModel):
    """A conversation after an append."""

    session_id: str
    message_count: int


class RecalledItem(BaseModel):
    """An item that was found."""

    reference: str
    source: str
    text: str
    time: datetime
    score: float


class RecallResult(BaseModel):
    """The items that were found, quoted in `text`."""

    text: str
    items: list[RecalledItem]


class ForgetResult(BaseModel):
    """The numbers of deleted items."""

    items: int
    entries: int = 0
    conversations: int = 0
    facts: int = 0
    states: int = 0
    objects: int = 0


class HandOverResult(BaseModel):
    """The task after a hand-over."""

    task_id: str
    assigned_agent: str | None
    hand_over_note: str | None


class MemoryList(BaseModel):
    """Memories, newest first."""

    memories: list[RememberedText]
    next: str | None = None


async def remember(client: AsyncClient, asked: Remember) -> RememberedText:
    content: Any = asked.value if asked.text is None else asked.text
    fields: dict[str, Any] = {} if asked.user is None else {"user_id": asked.user}
    return _describe(await client.memory.remember(content, tags=asked.tags or None, **fields))


def _describe(entry: Entry) -> RememberedText:
    value = entry.value
    text = value["text"] if isinstance(value.get("text"), str) else str(value)
    return RememberedText(
        reference=_build_reference(entry.id), text=text, created_at=entry.created_at
    )


def _build_reference(id: str) -> str:
    """Build the reference that recall returns for a semantic entry."""
    return f"e.{id[_TIER]}{id[-_NONCE:]}"


async def say(client: AsyncClient, asked: Say) -> SaidResult:
    said: dict[str, Any] = {"role": asked.role, "content": asked.text}
    if asked.uses:
        said["uses"] = asked.uses
    appended = await client.conversations.extend(asked.session_id, [said], asked.user)
    return SaidResult(session_id=asked.session_id, message_count=appended.message_count)


async def recall(client: AsyncClient, asked: RecallMemories) -> RecallResult:
    found = await client.recall(
        asked.query,
        user_id=asked.user,
        since=asked.since,
        until=asked.until,
        max_tokens=_MAX_TOKENS,
        top_k=asked.limit,
    )
    return RecallResult(
        text=found.text,
        items=[
            RecalledItem(
                reference=each.reference,
                source=each.source,
                text=each.text,
                time=each.time,
                score=each.score,
            )
            for each in found.items
        ],
    )


async def forget(client: AsyncClient, asked: Forget) -> ForgetResult:
    if asked.reference is not None:
        items = int(await client.forget(asked.reference))
        return ForgetResult(items=items)
    return ForgetResult(**asdict(await client.for_user(str(asked.user)).forget()))


async def hand_over(client: AsyncClient, asked: HandOver) -> HandOverResult:
    about = [f"The task is about the user {asked.user}."] if asked.user is not None else []
    note = "\n".join([*about, *([asked.note] if asked.note is not None else [])])
    task = await client.hand_over(asked.task_id, to=asked.to, note=note or None)
    return HandOverResult(
        task_id=task.id, assigned_agent=task.assigned_agent, hand_over_note=task.hand_over_note
    )


async def list_memories(client: AsyncClient, asked: ListMemories) -> MemoryList:
    owner = asked.user or (await client.principals.cached_me()).id
    root = "agents" if asked.user is None else "users"
    place = f"{root}/{quote_segment(owner).replace('*', '%2A')}/*"
    page = await client.memory.query(
        namespace=place, memory_type="semantic", page_size=asked.limit, after=asked.after
    )
    return MemoryList(memories=[_describe(each) for each in page.items], next=page.next)


VERBS = {
    "remember": Tool("Remember something", remember, Remember, RememberedText),
    "say": Tool("Add to a conversation", say, Say, SaidResult, idempotent=False),
    "recall": Tool("Recall what is known", recall, RecallMemories, RecallResult, reads_only=True),
    "forget": Tool("Forget", forget, Forget, ForgetResult, destructive=True),
    "hand_over": Tool("Hand a task over", hand_over, HandOver, HandOverResult),
    "list_memories": Tool(
        "List memories", list_memories, ListMemories, MemoryList, reads_only=True
    ),
}

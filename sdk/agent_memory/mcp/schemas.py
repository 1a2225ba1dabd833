"""Arguments and results of the tools; clients see these as JSON Schemas."""

import json
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    create_model,
    model_validator,
)

from agent_memory.model import ENTRY_FIELDS, MemoryType, Priority, Sensitivity

_NOT_OFFERED = frozenset({"scope", "expires_at", "vector"})
# `task_id` and `ttl` replace them; no model writes hundreds of numbers
_TYPES: dict[str, type] = {"string": str, "boolean": bool, "integer": int, "number": float}


def _parsed(given: object) -> object:
    """Parse objects and lists that a client sends as JSON text."""
    if isinstance(given, str):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


def _to_value(given: object) -> object:
    """Store plain text as an object, under `text`."""
    parsed = _parsed(given)
    return {"text": given} if isinstance(given, str) and not isinstance(parsed, dict) else parsed


Name = Annotated[str, Field(min_length=1)]
Namespace = Annotated[
    str,
    Field(min_length=1, max_length=255, description="The topic of the memory, e.g. `preferences`"),
]
Key = Annotated[
    str,
    Field(
        min_length=1, max_length=255, description="The name of the memory, unique in its namespace"
    ),
]
TextOrValue = Annotated[
    dict[str, JsonValue],
    BeforeValidator(_to_value, json_schema_input_type=dict[str, JsonValue] | str),
    Field(description="What to keep: plain text, or a JSON object"),
]
JsonObject = Annotated[dict[str, JsonValue], BeforeValidator(_parsed)]
Tags = Annotated[
    list[str],
    BeforeValidator(_parsed),
    Field(max_length=50, description="Labels to filter by, up to 50"),
]
SoughtTags = Annotated[
    list[Annotated[str, Field(min_length=1, pattern="^[^,]*$")]],  # the service splits at commas
    BeforeValidator(_parsed),
    Field(max_length=50),
]
Ttl = Annotated[
    str,
    Field(description="Its lifetime, for example `duration:PT24H`; without it, it does not expire"),
]
Version = Annotated[
    int,
    Field(
        ge=1,
        description="The version that you read; if the present one differs, nothing is changed",
    ),
]


class Arguments(BaseModel):
    """Arguments of a tool; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class CreateEntry(Arguments):
    """Store a new memory.

    It fails if a memory has this namespace and key: `change_entry` changes an existing one.
    """

    namespace: Namespace
    key: Key
    value: TextOrValue
    memory_type: MemoryType = Field(
        "episodic",
        description="`episodic`: your own, kept until evicted by newer ones; "
        "`working`: your own, for a task in progress; `semantic`: shared, read by everybody",
    )
    tags: Tags = []
    ttl: Ttl | None = None
    pinned: bool | None = Field(None, description="It is never evicted; episodic only")
    priority: Priority | None = Field(None, description="Low ones are evicted first; episodic only")
    sensitivity: Sensitivity | None = Field(
        None, description="The last two levels are stored encrypted"
    )
    task_id: Name | None = Field(None, description="The task that the memory belongs to")


class ReadEntry(Arguments):
    """Read one memory by its namespace and key: your own if there is one, else the shared one."""

    namespace: Namespace
    key: Key
    memory_type: MemoryType | None = Field(None, description="Only in this tier")
    agent_id: Name | None = Field(None, description="The agent whose memory it is; by default you")


class ListEntries(Arguments):
    """Find memories by namespace and tags, newest first: your own, or with `semantic` shared ones.

    Without a filter it lists all. If there are more, the result has `next`.
    """

    namespace: Annotated[
        str | None,
        Field(
            min_length=1,
            description="A namespace; `billing.*` selects all that begin with `billing.`",
        ),
    ] = None
    tags: Annotated[SoughtTags, Field(description="All of these tags")] = []
    tags_any: Annotated[SoughtTags, Field(description="At least one of these tags")] = []
    memory_type: MemoryType | None = Field(
        None, description="By default your own, working and episodic"
    )
    agent_id: Name | None = Field(
        None, description="The agent whose memories they are; by default you"
    )
    task_id: Name | None = Field(
        None, description="Only working memory of this task, by all authors"
    )
    limit: int = Field(20, ge=1, le=100)
    after: Name | None = Field(None, description="`next` of the previous result")


Query = Annotated[
    str,
    Field(min_length=1, max_length=8192, description="The subject of the search, in words or ids"),
]
MinScore = Annotated[
    float,
    Field(ge=-1, le=1, description="The lowest score; by default all results are shown"),
]


class SearchMemories(Arguments):
    """Find memories by meaning, words, names and ids, best first.

    Each has a `score`, 1 for the words of the query, and the words that `matched`. A new memory is
    found after a second or two.
    """

    query: Query
    memory_type: MemoryType | None = Field(
        None, description="Only in this tier; by default your own memories and the shared ones"
    )
    namespace: Annotated[
        str | None,
        Field(
            min_length=1,
            description="A namespace; `billing.*` selects all that begin with `billing.`",
        ),
    ] = None
    tags: Annotated[SoughtTags, Field(description="All of these tags")] = []
    fields: Annotated[
        dict[str, str | bool | int | float | None],
        Field(description="Values of the search fields that the given `namespace` declares"),
    ] = {}
    agent_id: Name | None = Field(
        None, description="The agent whose memories they are; by default you"
    )
    limit: int = Field(5, ge=1, le=100)
    min_score: MinScore | None = None


class RecallFacts(Arguments):
    """Find facts that agents of the team have learned, by meaning, words, names and ids.

    The facts of a subject that the query names come first. Each has a `score`, 1 for the words
    of the query, and the words that `matched`.
    """

    query: Query
    subject: Name | None = Field(None, description="Only facts with exactly this subject")
    predicate: Name | None = Field(None, description="Only facts with exactly this predicate")
    min_confidence: float | None = Field(None, ge=0, le=1)
    limit: int = Field(5, ge=1, le=100)
    min_score: MinScore | None = None


class LearnFact(Arguments):
    """Store one short statement for the whole team: subject, predicate, object.

    If the team knows the statement, it is not stored twice; the new confidence replaces the old.
    """

    subject: Annotated[
        str,
        Field(min_length=1, description="The person or thing that the fact is about: `Acme GmbH`"),
    ]
    predicate: Annotated[str, Field(min_length=1, description="The relation: `pays within`")]
    object: Annotated[str, Field(min_length=1, description="The value: `14 days`")]
    confidence: float = Field(1.0, ge=0, le=1, description="How sure you are, from 0 to 1")


class ListConversations(Arguments):
    """List a user's conversations without their messages, the last updated first."""

    user_id: Name | None = Field(None, description="The user; by default your own id")
    tags: Annotated[SoughtTags, Field(description="All of these tags")] = []
    limit: int = Field(20, ge=1, le=100)


class ReadConversation(Arguments):
    """Read the last messages of a conversation, oldest first."""

    session_id: Annotated[
        str, Field(min_length=1, description="The id that `list_conversations` shows")
    ]
    last: int = Field(20, ge=1, le=100, description="The number of messages, the newest ones")


class AppendMessage(Arguments):
    """Add a message to a conversation; create the conversation if it does not exist.

    Each call adds one more message.
    """

    session_id: Annotated[str, Field(min_length=1, max_length=255)]
    role: Annotated[str, Field(min_length=1, description="Who said it: `user`, `assistant`")]
    content: JsonValue = Field(description="What was said: text, or any JSON")
    user_id: Name | None = Field(None, description="The user of a new conversation; by default you")


class Update(Arguments):
    """Change a memory that still has the version you read.

    It needs the `version` that `read_entry` showed; fields that you leave out stay the same.
    """

    namespace: Namespace
    key: Key
    version: Version
    value: TextOrValue | None = None
    merge: bool = Field(
        False,
        description="True to change only the fields that `value` has; by default it replaces all",
    )
    tags: Tags | None = None
    ttl: Ttl | None = None
    memory_type: MemoryType | None = Field(None, description="Only in this tier")

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.value is None and self.tags is None and self.ttl is None:
            raise ValueError("give the value, tags or ttl to change")
        return self


class DeleteEntry(Arguments):
    """Delete a memory permanently. It is no error if the memory does not exist."""

    namespace: Namespace
    key: Key
    version: Version | None = None
    memory_type: MemoryType | None = Field(None, description="Only in this tier")


class Summarize(Arguments):
    """Show the size of your memory by tier, and the shared namespaces that you may read."""

    agent_id: Name | None = Field(None, description="The agent; by default you")


class EntryScope(BaseModel):
    """The scope of a memory."""

    task_id: str | None = None
    intent_id: str | None = None


class Memory(BaseModel):
    """One memory; fields of a newer service are passed on."""

    model_config = ConfigDict(extra="allow")

    id: str
    namespace: str
    key: str
    value: dict[str, JsonValue] | None = Field(
        None, description="Null if you may not read the value"
    )
    version: int = Field(description="The version that `change_entry` needs")
    memory_type: MemoryType
    tags: list[str]
    agent_id: str = Field(description="The agent whose memory it is")
    scope: EntryScope
    pinned: bool
    priority: str
    sensitivity: str | None
    created_at: str
    updated_at: str
    expires_at: str | None


class MemoryPage(BaseModel):
    """Some memories, newest first."""

    memories: list[Memory]
    next: str | None = Field(
        None, description="The position of the next page; null on the last one"
    )


class FoundMemory(Memory):
    """A memory that a search found."""

    score: float = Field(description="How well it matches: 1 for the words of the query")
    matched: list[str] = Field(description="The words and ids of the query that it has")


class FoundMemories(BaseModel):
    """The results of a search, best first."""

    memories: list[FoundMemory]


class FoundFact(BaseModel):
    """A fact that was recalled; fields of a newer service are passed on."""

    model_config = ConfigDict(extra="allow")

    fact_id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    score: float = Field(description="How well it matches: 1 for the words of the query")
    matched: list[str] = Field(description="The words and ids of the query that it has")


class FoundFacts(BaseModel):
    """The facts that were recalled, best first."""

    facts: list[FoundFact]


class LearnedFact(BaseModel):
    """A fact; fields of a newer service are passed on."""

    model_config = ConfigDict(extra="allow")

    fact_id: str
    subject: str | None = Field(
        None, description="Null, as predicate and object, if you may not read it"
    )
    predicate: str | None = None
    object: str | None = None
    confidence: float
    learned_count: int = Field(description="The number of times that it was learned")


class ListedConversation(BaseModel):
    """A conversation without its messages; fields of a newer service are passed on."""

    model_config = ConfigDict(extra="allow")

    session_id: str
    user_id: str
    message_count: int
    updated_at: str


class ConversationHeads(BaseModel):
    """A user's conversations, the last updated first."""

    conversations: list[ListedConversation]


class ListedMessage(BaseModel):
    """A message; fields of a newer service are passed on."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: JsonValue
    timestamp: str


class ConversationMessages(BaseModel):
    """Messages of a conversation, oldest first."""

    messages: list[ListedMessage]


class Appended(BaseModel):
    """The conversation after the message."""

    session_id: str
    message_count: int


class DeletedEntry(BaseModel):
    """The result of a deletion: true if something was deleted."""

    forgotten: bool


class Summary(BaseModel):
    """An agent's memory in figures."""

    agent_id: str
    working: dict[str, Any]
    episodic: dict[str, Any]
    semantic_namespaces_accessible: list[str]


def with_entry_fields(model: type[Arguments]) -> type[Arguments]:
    """Add the other fields of an entry, with the service's descriptions."""
    added: dict[str, Any] = {
        name: (_TYPES.get(field.type, Any) | None, Field(None, description=field.description))
        for name, field in ENTRY_FIELDS.items()
        if name not in model.model_fields and name not in _NOT_OFFERED
    }
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **added)

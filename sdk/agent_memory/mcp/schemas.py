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
# `task_id` and `ttl` say as much; no model writes hundreds of numbers
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
    """Keep plain text as an object, under `text`."""
    parsed = _parsed(given)
    return {"text": given} if isinstance(given, str) and not isinstance(parsed, dict) else parsed


Name = Annotated[str, Field(min_length=1)]
Namespace = Annotated[
    str,
    Field(min_length=1, max_length=255, description="The topic it belongs to, e.g. `preferences`"),
]
Key = Annotated[
    str, Field(min_length=1, max_length=255, description="Its name, unique within the namespace")
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
    Field(max_length=50, description="Words to find it by, up to 50"),
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
    int, Field(ge=1, description="Its version when you last saw it; else nothing is changed")
]


class Arguments(BaseModel):
    """Arguments of a tool; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class CreateEntry(Arguments):
    """Stores a new memory.

    Fails if there is one with this namespace and key: `update` changes that.
    """

    namespace: Namespace
    key: Key
    value: TextOrValue
    memory_type: MemoryType = Field(
        "episodic",
        description="`episodic`: your own, kept until it has to make room for newer ones; "
        "`working`: your own, for a task in progress; `semantic`: shared, read by everybody",
    )
    tags: Tags = []
    ttl: Ttl | None = None
    pinned: bool | None = Field(None, description="Never makes room for others; episodic only")
    priority: Priority | None = Field(None, description="Low ones make room first; episodic only")
    sensitivity: Sensitivity | None = Field(None, description="The last two are stored encrypted")
    task_id: Name | None = Field(None, description="The task that it belongs to, and ends with")


class ReadEntry(Arguments):
    """Reads one memory by its namespace and key: your own if there is one, else the shared one."""

    namespace: Namespace
    key: Key
    memory_type: MemoryType | None = Field(None, description="Looks only there")
    agent_id: Name | None = Field(None, description="Whose memory to read, if not your own")


class ListEntries(Arguments):
    """Finds memories by namespace and tags, newest first: your own, or with `semantic` shared ones.

    Without any filter it lists all. `next` in the answer says that there are more.
    """

    namespace: Annotated[
        str | None,
        Field(min_length=1, description="A namespace; `billing.*` takes all that begin so"),
    ] = None
    tags: Annotated[SoughtTags, Field(description="All of these tags")] = []
    tags_any: Annotated[SoughtTags, Field(description="At least one of these tags")] = []
    memory_type: MemoryType | None = Field(
        None, description="By default your own, working and episodic"
    )
    agent_id: Name | None = Field(None, description="Whose memories, if not your own")
    task_id: Name | None = Field(None, description="Working memory of this task, of all authors")
    limit: int = Field(20, ge=1, le=100)
    after: Name | None = Field(None, description="`next` of an earlier answer, to continue there")


Query = Annotated[
    str, Field(min_length=1, max_length=8192, description="What it is about, in words or ids")
]
MinScore = Annotated[
    float,
    Field(ge=-1, le=1, description="The least score; nothing is left out by default"),
]


class SearchMemories(Arguments):
    """Finds memories by what they are about: by meaning, words, names and ids, best first.

    Each has a `score`, 1 for the query's own words, and the words that `matched`. A new memory is
    found after a second or two.
    """

    query: Query
    memory_type: MemoryType | None = Field(
        None, description="Searches only there; by default your own and the shared ones"
    )
    namespace: Annotated[
        str | None,
        Field(min_length=1, description="A namespace; `billing.*` takes all that begin so"),
    ] = None
    tags: Annotated[SoughtTags, Field(description="All of these tags")] = []
    fields: Annotated[
        dict[str, str | bool | int | float | None],
        Field(description="What values have; search fields that the one `namespace` declares"),
    ] = {}
    agent_id: Name | None = Field(None, description="Whose memories, if not your own")
    limit: int = Field(5, ge=1, le=100)
    min_score: MinScore | None = None


class RecallFacts(Arguments):
    """Finds facts that agents of the team have learned, by meaning, words, names and ids.

    The facts of a subject that the query names come first. Each has a `score`, 1 for the query's
    own words, and the words that `matched`.
    """

    query: Query
    subject: Name | None = Field(None, description="Only facts about exactly this subject")
    predicate: Name | None = Field(None, description="Only facts that say exactly this of it")
    min_confidence: float | None = Field(None, ge=0, le=1)
    limit: int = Field(5, ge=1, le=100)
    min_score: MinScore | None = None


class LearnFact(Arguments):
    """Keeps one short statement for the whole team: subject, predicate, object.

    The same statement again is no second one; its confidence is the later one's.
    """

    subject: Annotated[str, Field(min_length=1, description="About whom or what: `Acme GmbH`")]
    predicate: Annotated[str, Field(min_length=1, description="What is said: `pays within`")]
    object: Annotated[str, Field(min_length=1, description="The rest of it: `14 days`")]
    confidence: float = Field(1.0, ge=0, le=1, description="How sure you are, from 0 to 1")


class ListConversations(Arguments):
    """Lists a user's past conversations, the last updated first, without what was said."""

    user_id: Name | None = Field(None, description="Whose; by default those of your own id")
    tags: Annotated[SoughtTags, Field(description="All of these tags")] = []
    limit: int = Field(20, ge=1, le=100)


class ReadConversation(Arguments):
    """Reads the last messages of a conversation, oldest first."""

    session_id: Annotated[str, Field(min_length=1, description="As `list_conversations` shows it")]
    last: int = Field(20, ge=1, le=100, description="How many messages, the newest ones")


class AppendMessage(Arguments):
    """Adds a message to a conversation; begins the conversation if there is none.

    Each call adds one more message.
    """

    session_id: Annotated[str, Field(min_length=1, max_length=255)]
    role: Annotated[str, Field(min_length=1, description="Who said it: `user`, `assistant`")]
    content: JsonValue = Field(description="What was said: text, or any JSON")
    user_id: Name | None = Field(None, description="Whose conversation, if it is new; else yours")


class Update(Arguments):
    """Changes a memory, unless somebody else has changed it since you saw it.

    Needs the `version` that `recall` gave; what you leave out stays as it is.
    """

    namespace: Namespace
    key: Key
    version: Version
    value: TextOrValue | None = None
    merge: bool = Field(
        False, description="Changes only the fields that `value` names; else it replaces all"
    )
    tags: Tags | None = None
    ttl: Ttl | None = None
    memory_type: MemoryType | None = Field(None, description="Looks only there")

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.value is None and self.tags is None and self.ttl is None:
            raise ValueError("give the value, tags or ttl to change")
        return self


class DeleteEntry(Arguments):
    """Deletes a memory for good. That it wasn't there is no error."""

    namespace: Namespace
    key: Key
    version: Version | None = None
    memory_type: MemoryType | None = Field(None, description="Looks only there")


class Summarize(Arguments):
    """Tells how much you remember, in which tiers, and which shared namespaces you may read."""

    agent_id: Name | None = Field(None, description="About whom, if not about you")


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
    value: dict[str, JsonValue] | None = Field(None, description="Null if you may not read it")
    version: int = Field(description="What `update` asks for")
    memory_type: MemoryType
    tags: list[str]
    agent_id: str = Field(description="Whose it is")
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
    next: str | None = Field(None, description="Where the next page begins, if there is one")


class FoundMemory(Memory):
    """A memory that a search found."""

    score: float = Field(description="How well it fits: 1 for the query's own words")
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
    score: float = Field(description="How well it fits: 1 for the query's own words")
    matched: list[str] = Field(description="The words and ids of the query that it has")


class FoundFacts(BaseModel):
    """The facts that were recalled, best first."""

    facts: list[FoundFact]


class LearnedFact(BaseModel):
    """A fact; fields of a newer service are passed on."""

    model_config = ConfigDict(extra="allow")

    fact_id: str
    subject: str | None = Field(None, description="Null, as the rest of it, if you may not read it")
    predicate: str | None = None
    object: str | None = None
    confidence: float
    learned_count: int = Field(description="How often it was learned")


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
    """Add the fields of an entry that the model doesn't describe itself, as the service does."""
    added: dict[str, Any] = {
        name: (_TYPES.get(field.type, Any) | None, Field(None, description=field.description))
        for name, field in ENTRY_FIELDS.items()
        if name not in model.model_fields and name not in _NOT_OFFERED
    }
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **added)

"""The request bodies of recall."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from functions.entries.requests import Tags, Vector
from functions.platform import limits
from functions.platform.references import SourceName
from functions.platform.validation import (
    AgentId,
    FieldName,
    Identifier,
    Name,
    RequestModel,
    Tag,
    Timestamp,
)
from functions.search.requests import FieldValue, Query

SOURCES: tuple[SourceName, ...] = ("entries", "facts", "messages", "episodes")
_TopK = Annotated[int, Field(ge=1, le=limits.MAX_RESULTS)]
_MinScore = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
_Neighbors = Annotated[int, Field(ge=0, le=limits.MAX_NEIGHBORS)]
_MaxTokens = Annotated[int, Field(ge=1, le=limits.MAX_RECALL_TOKENS)]


def _assert_different(names: list[SourceName]) -> list[SourceName]:
    if len(set(names)) < len(names):
        raise ValueError("must name each source once")
    return names


class ExcludedSession(RequestModel):
    """A conversation whose messages the caller already has."""

    session_id: Name


Reference = Annotated[str, Field(min_length=1, max_length=limits.MAX_REFERENCE_CHARACTERS)]
Excluded = Annotated[
    list[Reference | ExcludedSession], Field(max_length=limits.MAX_RECALL_EXCLUDED)
]


class _Question(RequestModel):
    """The common fields of recall and the search of conversations."""

    user_id: Identifier | None = None
    """Only what belongs to this user."""
    session_id: Name | None = None
    """Only messages of this conversation."""
    tags: Tags = Field(default=[])
    """Only entries and conversations that have all of these tags."""
    since: Timestamp | None = None
    """Only items about this time or a later one: a message's `timestamp`, an entry's
    `occurred_at`, a fact's `valid_from`, else the creation."""
    until: Timestamp | None = None
    """Only items about an earlier time."""
    exclude: Excluded = Field(default=[])
    """The items that the caller already has: references, and `{"session_id": ...}`."""
    top_k: _TopK = limits.DEFAULT_RECALLED
    """The maximum number of items."""
    min_score: _MinScore = -1.0
    """Items with a lower score are left out. Scores of different queries are not comparable."""
    max_tokens: _MaxTokens | None = None
    """The maximum size of `text`. Items at the end are dropped until it fits."""
    neighbours: _Neighbors = 2
    """The number of messages before and after a message that are returned with it."""
    explain: bool = False
    """True if each item has the parts of its score."""
    wait: Literal["indexed"] | None = None
    """`indexed`: wait up to {MAX_WAIT_SECONDS} until the newest entries are found. Messages are
    found at once."""

    @property
    def excluded_references(self) -> frozenset[str]:
        """The references of the items that the caller already has."""
        return frozenset(each for each in self.exclude if isinstance(each, str))

    @property
    def excluded_sessions(self) -> frozenset[str]:
        """The sessions that the caller already has."""
        return frozenset(
            each.session_id for each in self.exclude if isinstance(each, ExcludedSession)
        )


class ForgottenUser(RequestModel):
    """Body of `POST /api/v1/forget`."""

    user_id: Identifier
    """The user whose memory is deleted."""


class ConversationQuestion(_Question):
    """Body of `POST /api/v1/conversations/search`."""

    query: Query
    """The query, a text."""
    tags: Annotated[list[Tag], Field(max_length=limits.MAX_TAGS)] = Field(default=[])
    """Only conversations that have all of these tags."""


class Question(_Question):
    """Body of `POST /api/v1/recall`."""

    query: Query | None = None
    """The query, a text. Required unless `vector` is given."""
    vector: Vector | None = None
    """A vector of your own embedding model: finds the nearest entries of one namespace."""
    sources: Annotated[list[SourceName], Field(min_length=1), AfterValidator(_assert_different)] = (
        Field(default=list(SOURCES))
    )
    """The kinds of memory to search."""
    agent_id: AgentId | None = None
    """Only memory of this agent."""
    agent_type: Identifier | None = None
    """Only facts and episodes with this label."""
    namespace: Name | None = None
    """Only entries of this namespace; a trailing `*` makes it a prefix."""
    run_id: Identifier | None = None
    """Only episodes of this run, and facts that it learned."""
    as_of: Timestamp | None = None
    """Only facts that held at this time."""
    fields: Annotated[dict[FieldName, FieldValue], Field(max_length=limits.MAX_SEARCH_FIELDS)] = (
        Field(default={})
    )
    """Only entries whose values have these fields. The namespace must declare the names as
    `search_fields`."""

    @model_validator(mode="after")
    def _has_query(self) -> Self:
        if self.query is None and self.vector is None:
            raise ValueError("must have `query` or `vector`")
        return self

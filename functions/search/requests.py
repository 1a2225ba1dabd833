"""The request body of a search."""

from typing import Annotated

from pydantic import ConfigDict, Field

from functions.entries.filters import Filters, parse_namespace_filter
from functions.entries.requests import Tags, Vector
from functions.entries.tiers import Tier
from functions.platform import limits
from functions.platform.validation import AgentId, FieldName, Name, NotBlank, RequestModel

Query = Annotated[NotBlank, Field(max_length=limits.MAX_QUERY_CHARACTERS)]
FieldValue = (
    Annotated[str, Field(max_length=limits.MAX_FIELD_CHARACTERS)]
    | bool
    | int
    | Annotated[float, Field(allow_inf_nan=False)]
    | None
)


class MemorySearch(RequestModel):
    """Body of `POST /api/v1/memory/search`."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["query"], "properties": {"query": {"type": "string"}}},
                {
                    "required": ["vector", "namespace"],
                    "properties": {"vector": {"type": "array"}, "namespace": {"type": "string"}},
                },
            ]
        }
    )

    query: Query | None = None
    """The text to search for. Required unless `vector` is given."""
    vector: Vector | None = None
    """A vector of your own embedding model: finds the nearest entries of one namespace. With
    `query`, it replaces the meaning of the query; words and IDs still count."""
    top_k: int = Field(default=limits.DEFAULT_RESULTS, ge=1, le=limits.MAX_RESULTS)
    """The maximum number of results. A response of more than {MAX_PAGE_BYTES} has fewer."""
    min_score: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = -1.0
    """Results with a lower score are left out. The score of a `vector` alone is the cosine of your
    embeddings. Scores of different queries are not comparable."""
    memory_type: Tier
    """The tier, which determines lifetime and access."""
    namespace: Name | None = None
    """The namespace; a trailing `*` makes it a prefix."""
    agent_id: AgentId | None = None
    """The owner. Required for working and episodic memory; for an agent it defaults to itself."""
    tags: Tags = Field(default=[])
    """Finds only entries that have all of these tags."""
    fields: Annotated[dict[FieldName, FieldValue], Field(max_length=limits.MAX_SEARCH_FIELDS)] = (
        Field(default={})
    )
    """Finds only entries whose values have exactly these fields at their top level. The namespace
    must declare the names as `search_fields`."""

    @property
    def filters(self) -> Filters:
        """The filters of the query that selects the same entries (RFC-0015 §4.1)."""
        namespace, prefix = parse_namespace_filter(self.namespace)
        return Filters(
            agent_id=self.agent_id,
            namespace=namespace,
            namespace_prefix=prefix,
            memory_type=self.memory_type,
            tags=frozenset(self.tags),
        )

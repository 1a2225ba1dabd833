"""The request body of a search (contract §8)."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from functions.entries.model import Filters, parse_namespace_filter
from functions.entries.requests import Tags
from functions.entries.tiers import Tier
from functions.platform.fields import AgentId, Name
from functions.platform.limits import DEFAULT_RESULTS, MAX_QUERY_CHARACTERS, MAX_RESULTS


def _assert_not_blank(query: str) -> str:
    if not query.strip():
        raise ValueError("say in words what to search for")
    return query


Query = Annotated[
    str, AfterValidator(_assert_not_blank), Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
]


class MemorySearch(BaseModel):
    """Body of `POST /api/v1/memory/search`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: Query
    top_k: int = Field(default=DEFAULT_RESULTS, ge=1, le=MAX_RESULTS)
    memory_type: Tier
    namespace: Name | None = None
    agent_id: AgentId | None = None
    tags: Tags = []

    @property
    def filters(self) -> Filters:
        """The filters of the query that selects the same entries (RFC-0015 §4.1)."""
        namespace, prefix = parse_namespace_filter(self.namespace)
        return Filters(
            agent_id=self.agent_id,
            namespace=namespace,
            namespace_prefix=prefix,
            tier=self.memory_type,
            tags=frozenset(self.tags),
        )

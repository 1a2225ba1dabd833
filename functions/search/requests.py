"""The request body of a search (contract §8)."""

from typing import Annotated

from pydantic import AfterValidator, Field

from functions.entries.model import Filters, parse_namespace_filter
from functions.entries.requests import Tags
from functions.entries.tiers import Tier
from functions.platform.limits import DEFAULT_RESULTS, MAX_QUERY_CHARACTERS, MAX_RESULTS
from functions.platform.validation import AgentId, Name, RequestModel


def _assert_not_blank(query: str) -> str:
    if not query.strip():
        raise ValueError("say in words what to search for")
    return query


Query = Annotated[
    str, AfterValidator(_assert_not_blank), Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
]


class MemorySearch(RequestModel):
    """Body of `POST /api/v1/memory/search`."""

    query: Query
    """What it is about, in words."""
    top_k: int = Field(default=DEFAULT_RESULTS, ge=1, le=MAX_RESULTS)
    """How many to answer at most; fewer, where they would pass 5 MB."""
    min_score: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = -1.0
    """The least score of what is answered. Below about 0.2 it is rather nothing that fits."""
    memory_type: Tier
    """The tier: it decides on lifetime and access."""
    namespace: Name | None = None
    """The namespace; a trailing `*` makes it a prefix."""
    agent_id: AgentId | None = None
    """The owner. Required for working and episodic memory; for an agent it defaults to itself."""
    tags: Tags = Field(default=[])
    """Entries that have all of these."""

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

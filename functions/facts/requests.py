"""Bodies of requests about facts (ADR-043 Tier 3)."""

from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from functions.platform import limits
from functions.platform.validation import (
    Identifier,
    RequestModel,
)


def _assert_words(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Part = Annotated[
    str,
    AfterValidator(_assert_words),
    Field(min_length=1, max_length=limits.MAX_FACT_PART_CHARACTERS),
]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class NewFact(RequestModel):
    """Body of `POST /api/v1/facts`; `tenant_id` and `created_at` are set by the service."""

    model_config = ConfigDict(strict=False)

    subject: Part
    predicate: Part
    object: Part
    confidence: Confidence = 1.0
    fact_id: Identifier | None = None
    """Default: an id that is derived from subject, predicate and object."""
    agent_type: Identifier | None = None
    """A label that groups runs, such as `sdr`. It does not limit access."""
    learned_from_run_id: Identifier | None = None
    metadata: dict[str, Any] | None = None
    tenant_id: Any = None
    """Ignored. A fact belongs to the caller's tenant."""
    created_at: Any = None
    """Ignored. The service sets the time."""


class RecallFilters(RequestModel):
    """Filters of a recall."""

    model_config = ConfigDict(strict=False)

    agent_type: Identifier | None = None
    """A label that groups runs, such as `sdr`. It does not limit access."""
    subject: Part | None = None
    predicate: Part | None = None
    learned_from_run_id: Identifier | None = None
    min_confidence: Confidence | None = None

    @property
    def equal(self) -> dict[str, str]:
        """The filters that the vector index applies."""
        return {name: str(value) for name, value in self if name != "min_confidence" and value}


class Recall(RequestModel):
    """Body of `POST /api/v1/facts/recall`."""

    model_config = ConfigDict(strict=False)

    query: Annotated[
        str,
        AfterValidator(_assert_words),
        Field(min_length=1, max_length=limits.MAX_QUERY_CHARACTERS),
    ]
    top_k: Annotated[int, Field(ge=1, le=limits.MAX_RESULTS, strict=True)] = limits.DEFAULT_RESULTS
    filters: RecallFilters = Field(default_factory=RecallFilters)
    min_score: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = -1.0
    """Results with a lower score are left out. Scores of different queries are not comparable."""

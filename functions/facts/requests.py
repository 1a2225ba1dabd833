"""Bodies of requests about facts (ADR-043 Tier 3)."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from functions.platform import limits
from functions.platform.request_context import is_import
from functions.platform.validation import (
    Identifier,
    Imported,
    ImportedCount,
    ImportedId,
    ImportedTime,
    RequestModel,
    Timestamp,
)


def _assert_words(text: str) -> str:
    if not text.strip():
        raise ValueError("say it in words")
    return text


def _keep_if_imported(value: object) -> object:
    return value if is_import.get() else None


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
    """By default the same for the same subject, predicate and object."""
    agent_type: Identifier | None = None
    """A label that groups runs, such as `sdr`; no boundary."""
    learned_from_run_id: Identifier | None = None
    metadata: dict[str, Any] | None = None
    tenant_id: Any = None
    """Ignored: it is the caller's."""
    created_at: Annotated[
        Timestamp | None, BeforeValidator(_keep_if_imported), WithJsonSchema({})
    ] = None
    """Ignored, but with `X-Import`: it is when the fact is learned."""
    updated_at: ImportedTime = None
    first_learned_at: ImportedTime = None
    learned_by: ImportedId = None
    learned_count: ImportedCount = None
    learned_from_run_ids: Imported[
        Annotated[list[Identifier], Field(max_length=limits.MAX_FACT_RUNS)]
    ] = None
    version: ImportedCount = None


class RecallFilters(RequestModel):
    """Filters of a recall."""

    model_config = ConfigDict(strict=False)

    agent_type: Identifier | None = None
    """A label that groups runs, such as `sdr`; no boundary."""
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
    """The least score of what is answered. Below about 0.2 it is rather nothing that fits."""

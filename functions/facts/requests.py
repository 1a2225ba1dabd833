"""Bodies of requests about facts (ADR-043 Tier 3)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from functions.platform import limits
from functions.platform.validation import Identifier, NotBlank, RequestModel, Timestamp

Part = Annotated[NotBlank, Field(max_length=limits.MAX_FACT_PART_CHARACTERS)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class NewFact(RequestModel):
    """Body of `POST /api/v1/facts`; `tenant_id` and `created_at` are set by the service."""

    model_config = ConfigDict(strict=False)

    subject: Part
    predicate: Part
    object: Part
    confidence: Confidence = 1.0
    user_id: Identifier | None = None
    """The user whom the fact is about. It is read and written by those who may read and write
    `users/{user_id}/memory`, and is deleted with the user."""
    fact_id: Identifier | None = None
    """Default: an id that is derived from subject, predicate and object."""
    agent_type: Identifier | None = None
    """A label that groups runs, such as `sdr`. It does not limit access."""
    learned_from_run_id: Identifier | None = None
    metadata: dict[str, Any] | None = None
    valid_from: Timestamp | None = None
    """The time when the statement begins to hold. Default: now."""
    valid_until: Timestamp | None = None
    """The time when it ceases to hold. Default: it holds until another fact replaces it."""
    replaces: Literal["same_subject_predicate"] | None = None
    """`same_subject_predicate`: ends the facts with this subject, predicate and `user_id` when this
    fact begins to hold."""
    tenant_id: Any = None
    """Ignored. A fact belongs to the caller's tenant."""
    created_at: Any = None
    """Ignored. The service sets the time."""


class PredicateRule(RequestModel):
    """Body of `PUT /api/v1/facts/predicates/{predicate}`."""

    single_valued: bool
    """True if a subject has one value at a time. If so, a new fact ends the one before it."""


class NewFacts(RequestModel):
    """Body of `POST /api/v1/facts/batch`: all facts are learned, or none."""

    facts: Annotated[list[NewFact], Field(min_length=1, max_length=limits.MAX_LEARNED_FACTS)]


class RecallFilters(RequestModel):
    """Filters of a recall."""

    model_config = ConfigDict(strict=False)

    agent_type: Identifier | None = None
    """A label that groups runs, such as `sdr`. It does not limit access."""
    subject: Part | None = None
    predicate: Part | None = None
    learned_from_run_id: Identifier | None = None
    min_confidence: Confidence | None = None
    user_id: Identifier | None = None
    """Only facts about this user."""


class Recall(RequestModel):
    """Body of `POST /api/v1/facts/recall`."""

    model_config = ConfigDict(strict=False)

    query: Annotated[NotBlank, Field(max_length=limits.MAX_QUERY_CHARACTERS)]
    top_k: Annotated[int, Field(ge=1, le=limits.MAX_RESULTS, strict=True)] = limits.DEFAULT_RESULTS
    filters: RecallFilters = Field(default_factory=RecallFilters)
    as_of: Timestamp | None = None
    """Only facts that held at this time. Default: now."""
    min_score: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = -1.0
    """Results with a lower score are left out. Scores of different queries are not comparable."""

"""Facts, as the API shows them (ADR-043 Tier 3)."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import (
    VALUE,
    Count,
    JsonObject,
    PagePosition,
    Probability,
    Timestamp,
    Version,
)
from functions.facts.model import Fact, Recalled


class FactDocument(TypedDict):
    """A fact: subject, predicate and object."""

    fact_id: str
    user_id: str | None
    """The user whom the fact is about."""
    agent_type: str | None
    """A label that groups runs, such as `sdr`; no boundary."""
    subject: NotRequired[Annotated[str, VALUE]]
    predicate: NotRequired[Annotated[str, VALUE]]
    object: NotRequired[Annotated[str, VALUE]]
    confidence: Probability
    learned_from_run_id: str | None
    """The last run that learned it."""
    learned_from_run_ids: list[str]
    """The latest 20 runs that learned it, the last one at the end."""
    learned_count: Count
    """How often it was learned."""
    first_learned_at: Timestamp
    learned_by: str
    metadata: NotRequired[Annotated[JsonObject | None, VALUE]]
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp


class FactPageDocument(PagePosition):
    """A page of facts."""

    facts: list[FactDocument]


class LearnedFactsDocument(TypedDict):
    """The facts of a batch, in its order."""

    facts: list[FactDocument]


class DeletedFactsDocument(TypedDict):
    """How many facts were deleted."""

    deleted: Count


class RecalledFactDocument(FactDocument):
    """A fact that a recall found."""

    score: float
    """How well the fact fits the query: 1 for the same words. Compare scores within one answer
    only."""
    matched: list[str]
    """The words and ids of the query that it has, without case and accents."""


class RecalledDocument(TypedDict):
    """What a recall found, best first."""

    facts: list[RecalledFactDocument]


def render_fact(fact: Fact) -> FactDocument:
    """Render a fact; its metadata are copied as they are stored."""
    return to_document(fact, FactDocument)


def render_recalled_fact(recalled: Recalled) -> RecalledFactDocument:
    return {**render_fact(recalled.fact), "score": recalled.score, "matched": recalled.matched}

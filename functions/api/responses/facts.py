"""Facts, as the API shows them (ADR-043 Tier 3)."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NotRequired, cast

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
from functions.facts.model import Fact, FactChange
from functions.platform.clock import to_rfc3339
from functions.platform.values import UNREADABLE
from functions.vectors.hybrid import Found


class FactDocument(TypedDict):
    """A fact: subject, predicate and object."""

    fact_id: str
    user_id: str | None
    """The user whom the fact is about."""
    unreadable: NotRequired[bool]
    """True if the stored metadata was damaged or moved."""
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
    """The number of times that it was learned."""
    first_learned_at: Timestamp
    valid_from: Timestamp
    """The time when the statement begins to hold."""
    valid_until: Timestamp | None
    """The time when it ceases to hold; null: it still holds."""
    replaced_facts: list[str]
    """The ids of the facts that it ended."""
    merged_into: str | None
    """The id of the equal fact that remains."""
    conflicts_with: NotRequired[list[str]]
    """The ids of facts with another value of the same single-valued predicate; absent without any.
    A list names those of its page, a recall all that hold."""
    learned_by: str
    metadata: NotRequired[Annotated[JsonObject | None, VALUE]]
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp


class FactPageDocument(PagePosition):
    """A page of facts."""

    facts: list[FactDocument]


class FactChangeDocument(TypedDict):
    """A change of a fact."""

    time: Timestamp
    actor: str
    change: FactChange


class FactPeriodDocument(FactDocument):
    """A fact in a period in which it held."""

    changes: list[FactChangeDocument]
    """The fact's latest 20 changes apart from being learned again."""


class FactHistoryDocument(TypedDict):
    """A chain of facts."""

    facts: list[FactPeriodDocument]
    """All facts with the same subject, predicate and `user_id`, the latest `valid_from` first. A
    fact that held several times is here once for each period."""


class PredicateDocument(TypedDict):
    """A predicate that the tenant has declared."""

    predicate: str
    single_valued: bool
    """True if a subject has one value at a time."""


class PredicatesDocument(TypedDict):
    """The predicates that the tenant has declared, by name."""

    predicates: list[PredicateDocument]


class LearnedFactsDocument(TypedDict):
    """The facts of a batch, in its order."""

    facts: list[FactDocument]


class DeletedFactsDocument(TypedDict):
    """The number of deleted facts."""

    deleted: Count


class RecalledFactDocument(FactDocument):
    """A fact that a recall found."""

    score: float
    """The match of the fact with the query: 1 for the same words. Compare scores within one answer
    only."""
    matched: list[str]
    """The words and ids of the query that it has, without case and accents."""


class RecalledDocument(TypedDict):
    """The results of a recall, best first."""

    facts: list[RecalledFactDocument]


def render_fact(fact: Fact, conflicting: Iterable[Fact] = ()) -> FactDocument:
    """Render a fact; its metadata are copied as they are stored."""
    document = to_document(fact, FactDocument)
    if ids := [each.fact_id for each in conflicting]:
        document["conflicts_with"] = ids
    if fact.metadata is UNREADABLE:
        document["unreadable"] = True
    return document


def render_period(fact: Fact) -> FactPeriodDocument:
    """Render a fact in one of its periods, with its changes."""
    return to_document(fact, FactPeriodDocument, changes=list(map(_render_change, fact.changes)))


def _render_change(change: Mapping[str, Any]) -> FactChangeDocument:
    return cast("FactChangeDocument", {**change, "time": to_rfc3339(change["time"])})


def render_recalled_fact(
    recalled: Found[Fact], conflicting: Iterable[Fact] = ()
) -> RecalledFactDocument:
    fact = render_fact(recalled.element, conflicting)
    return {**fact, "score": recalled.score, "matched": recalled.matched}

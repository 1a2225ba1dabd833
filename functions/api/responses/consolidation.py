"""Consolidations, as the API shows them."""

from collections.abc import Iterable, Sequence
from typing import NotRequired, cast

from typing_extensions import TypedDict

from functions.api.responses.facts import FactDocument, render_fact
from functions.api.responses.rendering import to_document
from functions.api.responses.types import Count, Probability, Timestamp
from functions.consolidation.model import (
    ConsolidationSchedule,
    Reason,
    ReportedStep,
    Status,
    StepKind,
)


class ConsolidationSettingsDocument(TypedDict):
    """The settings of the tenant's consolidations."""

    every: str | None
    """The time between two consolidations, as an ISO 8601 duration; null: only on request."""
    decay_after: str | None
    """The time after which an unused fact is weakened; null: never."""
    end_below: Probability
    """A weakened fact ends if its confidence is below this value."""
    next_at: Timestamp | None
    """The start of the next consolidation. A tenant's first fact schedules one within eight
    days."""
    last_run: str | None
    """The id of the latest one."""


class ConsolidationStepDocument(TypedDict):
    """A change that a consolidation makes to facts."""

    facts: list[FactDocument]
    """The facts that are merged, ended or weakened, as they are now. A fact about a user whose
    memory you may not read lacks its statement."""
    reason: Reason
    kept: str | None
    """The id of the fact that remains."""
    undone: bool


class StepsDocument(TypedDict):
    """The steps of a consolidation, by their kind."""

    merged: list[ConsolidationStepDocument]
    ended: list[ConsolidationStepDocument]
    weakened: list[ConsolidationStepDocument]


class ConsolidationReportDocument(StepsDocument):
    """The work of a consolidation."""

    examined: Count
    """The number of facts that were examined."""


class ConsolidationPreviewDocument(ConsolidationReportDocument):
    """The work that a consolidation would do."""

    complete: bool
    """True if all facts were examined, and all steps are listed; a request examines the newest
    {MAX_DRY_RUN_FACTS}."""


class StartedConsolidationDocument(TypedDict):
    """A consolidation and its status."""

    id: str
    status: Status


class ConsolidationDocument(ConsolidationReportDocument):
    """A consolidation, its status, and its steps."""

    id: str
    status: Status
    started_at: Timestamp
    finished_at: Timestamp | None
    limit: Count
    next: NotRequired[str]
    """The `after` of the next page of steps; absent on the last page."""


def render_settings(schedule: ConsolidationSchedule) -> ConsolidationSettingsDocument:
    return to_document(schedule, ConsolidationSettingsDocument, **schedule.rules._asdict())


def render_step(step: ReportedStep) -> ConsolidationStepDocument:
    """Render a step, without the statements that the caller may not read."""
    return {
        "facts": [_render_fact(step, each) for each in map(render_fact, step.facts)],
        "reason": step.reason,
        "kept": step.kept,
        "undone": step.undone,
    }


def _render_fact(step: ReportedStep, fact: FactDocument) -> FactDocument:
    if fact["fact_id"] not in step.hidden:
        return fact
    hidden = ("subject", "predicate", "object", "metadata")
    return cast("FactDocument", {name: each for name, each in fact.items() if name not in hidden})


def group_steps(
    kinds: Iterable[StepKind], rendered: Sequence[ConsolidationStepDocument]
) -> StepsDocument:
    """Group rendered steps by their kinds; there may be fewer of them than kinds."""
    groups = StepsDocument(merged=[], ended=[], weakened=[])
    for kind, each in zip(kinds, rendered, strict=False):
        groups[kind].append(each)
    return groups

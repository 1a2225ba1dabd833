"""Consolidation of facts (ADR-043, CONTRACT3 section 15)."""

from collections.abc import Iterable, Sequence
from typing import NotRequired, cast

from typing_extensions import TypedDict

from functions.api.documents import Count, Probability, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate_uncounted, truncate_to_limit
from functions.api.parameters import UNCOUNTED_PAGE, VALUES_OF_ANSWER
from functions.api.routes.facts import FactDocument, render_fact
from functions.api.routing import RouteTable
from functions.consolidation.authority import CHANGE_CONSOLIDATION, CONSOLIDATE, UNDO_CONSOLIDATION
from functions.consolidation.job import END
from functions.consolidation.model import (
    ConsolidationRun,
    ConsolidationSchedule,
    Reason,
    ReportedStep,
    Status,
    StepKind,
)
from functions.consolidation.requests import ConsolidationSettings, NewConsolidation
from functions.identity.model import ADMIN, Principal
from functions.platform.bounded_pages import WantedPage


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
    """The id of the latest consolidation."""


class ConsolidationStepDocument(TypedDict):
    """A change that a consolidation makes to facts."""

    facts: list[FactDocument]
    """The facts that are merged, ended or weakened, in their present state. A fact about a user
    whose memory you may not read has no statement."""
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


class ConsolidationRunDocument(ConsolidationReportDocument):
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
    """Render a step without statements that the caller may not read."""
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
    """Group rendered steps by their kinds."""
    groups = StepsDocument(merged=[], ended=[], weakened=[])
    for kind, each in zip(kinds, rendered, strict=False):
        groups[kind].append(each)
    return groups


ROUTES = RouteTable()

_CONSOLIDATION = "/api/v1/consolidation"


@ROUTES.add(
    f"POST {_CONSOLIDATION}",
    ADMIN,
    {200: ConsolidationPreviewDocument, 202: StartedConsolidationDocument},
    query=(VALUES_OF_ANSWER,),
    idempotent=True,
    audited=(CONSOLIDATE,),
)
def consolidate(request: Request, caller: Principal, new: NewConsolidation) -> Response:
    """Consolidate the tenant's facts, or preview the changes.

    A dry run returns 200 and changes nothing. Otherwise the scheduled function does the work. While
    a consolidation runs, further requests return its id.
    """
    consolidation = request.services.consolidation
    if not new.dry_run:
        return _answer_started(202, consolidation.start(caller, request.idempotency_token(caller)))
    steps, run = consolidation.preview(caller)
    rendered = truncate_to_limit(map(render_step, steps))
    document = ConsolidationPreviewDocument(
        examined=run.examined,
        complete=run.after == END and len(rendered) == len(steps),
        **group_steps((each.kind for each in steps), rendered),
    )
    return json_response(200, document)


@ROUTES.add(f"GET {_CONSOLIDATION}/settings", ADMIN, {200: ConsolidationSettingsDocument})
def get_consolidation_settings(request: Request, caller: Principal) -> Response:
    """Get the settings of consolidations."""
    schedule = request.services.consolidation.get_settings(caller)
    return json_response(200, render_settings(schedule))


@ROUTES.add(
    f"PUT {_CONSOLIDATION}/settings",
    ADMIN,
    {200: ConsolidationSettingsDocument},
    error_statuses=(409,),
    audited=(CHANGE_CONSOLIDATION,),
)
def put_consolidation_settings(
    request: Request, caller: Principal, new: ConsolidationSettings
) -> Response:
    """Set the settings of consolidations.

    Omitted settings get their defaults: `P7D`, `P90D` and 0.2.
    """
    schedule = request.services.consolidation.put_settings(caller, new)
    return json_response(200, render_settings(schedule))


@ROUTES.add(
    f"GET {_CONSOLIDATION}/{{id}}",
    ADMIN,
    {200: ConsolidationRunDocument},
    query=(VALUES_OF_ANSWER, *UNCOUNTED_PAGE),
)
def get_consolidation(request: Request, caller: Principal) -> Response:
    """Get the status and the steps of a consolidation.

    A consolidation is kept for {CONSOLIDATION_RETENTION_DAYS}. `limit` is the number of steps.
    """
    consolidation = request.services.consolidation
    run = consolidation.get(caller, request.path_param("id"))
    steps: list[ReportedStep] = []

    def read(wanted: WantedPage) -> list[ReportedStep]:
        steps.extend(consolidation.list_steps(caller, run.id, wanted))
        return steps

    rendered, page = paginate_uncounted(
        request, caller, read, render_step, lambda each: each.position
    )
    groups = group_steps((each.kind for each in steps), rendered)
    return json_response(200, to_document(run, ConsolidationRunDocument, **groups, **page))


@ROUTES.add(
    f"POST {_CONSOLIDATION}/{{id}}/undo",
    ADMIN,
    {200: StartedConsolidationDocument, 202: StartedConsolidationDocument},
    error_statuses=(404, 409),
    audited=(UNDO_CONSOLIDATION,),
)
def undo_consolidation(request: Request, caller: Principal) -> Response:
    """Undo a consolidation for facts that were not changed since.

    Returns 200 if it is finished, and 202 if the scheduled function continues. Undone facts are not
    consolidated again until they are learned again.
    """
    run = request.services.consolidation.undo(caller, request.path_param("id"))
    return _answer_started(202 if run.is_at_work else 200, run)


def _answer_started(status: int, run: ConsolidationRun) -> Response:
    return json_response(status, StartedConsolidationDocument(id=run.id, status=run.status))

"""Consolidation of facts (ADR-043, CONTRACT3 section 15)."""

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate_uncounted, truncate_to_limit
from functions.api.parameters import UNCOUNTED_PAGE, VALUES_OF_ANSWER
from functions.api.responses.consolidation import (
    ConsolidationDocument,
    ConsolidationPreviewDocument,
    ConsolidationSettingsDocument,
    StartedConsolidationDocument,
    group_steps,
    render_settings,
    render_step,
)
from functions.api.responses.rendering import to_document
from functions.api.routing import RouteTable
from functions.consolidation.authority import CHANGE_CONSOLIDATION, CONSOLIDATE, UNDO_CONSOLIDATION
from functions.consolidation.job import END
from functions.consolidation.model import ConsolidationRun, ReportedStep
from functions.consolidation.requests import ConsolidationSettings, NewConsolidation
from functions.identity.model import ADMIN, Principal
from functions.platform.bounded_pages import WantedPage

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

    A dry run answers 200 and changes nothing. Otherwise the scheduled function does the work.
    While a consolidation runs, further requests return its id.
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
    """Get when and how facts are consolidated."""
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
    """Set when and how facts are consolidated.

    Omitted settings get their defaults: `P7D`, `P90D` and 0.2.
    """
    schedule = request.services.consolidation.put_settings(caller, new)
    return json_response(200, render_settings(schedule))


@ROUTES.add(
    f"GET {_CONSOLIDATION}/{{id}}",
    ADMIN,
    {200: ConsolidationDocument},
    query=(VALUES_OF_ANSWER, *UNCOUNTED_PAGE),
)
def get_consolidation(request: Request, caller: Principal) -> Response:
    """Get the status and the steps of a consolidation.

    It is kept for {CONSOLIDATION_RETENTION_DAYS}. `limit` is of steps.
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
    return json_response(200, to_document(run, ConsolidationDocument, **groups, **page))


@ROUTES.add(
    f"POST {_CONSOLIDATION}/{{id}}/undo",
    ADMIN,
    {200: StartedConsolidationDocument, 202: StartedConsolidationDocument},
    error_statuses=(404, 409),
    audited=(UNDO_CONSOLIDATION,),
)
def undo_consolidation(request: Request, caller: Principal) -> Response:
    """Undo a consolidation for the facts that were not changed since.

    Answers 200 if it is done, and 202 if the scheduled function continues. Undone facts are not
    consolidated again until they are learned again.
    """
    run = request.services.consolidation.undo(caller, request.path_param("id"))
    return _answer_started(202 if run.is_at_work else 200, run)


def _answer_started(status: int, run: ConsolidationRun) -> Response:
    return json_response(status, StartedConsolidationDocument(id=run.id, status=run.status))

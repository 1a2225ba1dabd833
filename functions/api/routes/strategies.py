"""Strategies that learn from conversations."""

from functools import partial
from operator import attrgetter
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import Count, Timestamp, UncountedPosition, Version, to_document
from functions.api.http import Request, Response, json_response, stored_response
from functions.api.paging import paginate_uncounted
from functions.api.parameters import UNCOUNTED_PAGE
from functions.api.routing import RouteTable
from functions.identity.model import ADMIN, READ, Principal
from functions.learning.authority import CHANGE_STRATEGY, DELETE_STRATEGY
from functions.learning.model import Budget, Strategy, StrategyStatus
from functions.learning.requests import NewStrategy
from functions.platform.clock import to_rfc3339


class TriggerDocument(TypedDict):
    """The condition on which a conversation is read."""

    messages: Version | None
    """The number of new messages after which a conversation is read."""
    idle: str | None
    """The age of the last message after which a conversation is read (ISO 8601)."""


class StrategyDocument(TypedDict):
    """A strategy that learns from conversations."""

    name: str
    kind: Literal["facts", "preferences", "summary", "episodes"]
    instructions: str
    namespace: str
    """The template for the namespace of learned entries."""
    model: str | None
    """A model of the deployment; null for its first one."""
    trigger: TriggerDocument
    enabled: bool
    version: Version
    """Counts the changes; send it as If-Match. Each learned item names it."""
    created_at: Timestamp
    updated_at: Timestamp
    created_by: str


class StrategyPageDocument(UncountedPosition):
    """A page of a tenant's strategies, by their names."""

    strategies: list[StrategyDocument]


class WaitingDocument(TypedDict):
    """The number of waiting conversations, by the reason."""

    trigger: Count
    """Conversations with new messages that have not reached the trigger."""
    running: Count
    """Conversations with a running request to the model."""
    budget: Count
    """Conversations without budget today. They are read on the next day."""
    retry: Count
    """Conversations for which the model did not answer. They are retried after increasing waits."""


class LearningBudgetDocument(TypedDict):
    """The usage of the tenant's strategies on a day (UTC), and the limits; null is no limit."""

    day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    tokens: Count
    tokens_limit: Count | None
    requests: Count
    requests_limit: Count | None


class StrategyStatusDocument(TypedDict):
    """The progress of a strategy."""

    name: str
    enabled: bool
    version: Version
    model: str | None
    """The model in use; null if the deployment has none, and nothing is learned."""
    waiting: WaitingDocument
    """At most 1,000 conversations are counted."""
    waiting_since: Timestamp | None
    learned: Count
    """The number of items added or learned again."""
    ended: Count
    """The number of ended items."""
    dropped: Count
    """The number of items and answers that the schema does not allow."""
    failed: Count
    """The number of requests that the model did not answer."""
    requests: Count
    tokens: Count
    last_learned_at: Timestamp | None
    last_error: str | None
    last_error_at: Timestamp | None
    budget: LearningBudgetDocument


def render_strategy(strategy: Strategy) -> StrategyDocument:
    return to_document(
        strategy,
        StrategyDocument,
        trigger=TriggerDocument(messages=strategy.messages, idle=strategy.idle),
    )


def render_status(status: StrategyStatus) -> StrategyStatusDocument:
    """Render a status, with the model in use."""
    strategy, waiting = status.strategy, status.waiting.by_reason
    since = status.waiting.since
    return to_document(
        status.counts,
        StrategyStatusDocument,
        name=strategy.name,
        enabled=strategy.enabled,
        version=strategy.version,
        model=status.model,
        waiting=WaitingDocument(
            trigger=waiting.get("trigger", 0),
            running=waiting.get("running", 0),
            budget=waiting.get("budget", 0),
            retry=waiting.get("retry", 0),
        ),
        waiting_since=None if since is None else to_rfc3339(since),
        budget=_render_budget(status.budget),
    )


def _render_budget(budget: Budget) -> LearningBudgetDocument:
    return {
        "day": budget.day,
        "tokens": budget.used.tokens,
        "tokens_limit": budget.limit.tokens or None,
        "requests": budget.used.requests,
        "requests_limit": budget.limit.requests or None,
    }


ROUTES = RouteTable()

_STRATEGIES = "/api/v1/strategies"

_STRATEGY = f"{_STRATEGIES}/{{name}}"


@ROUTES.add(f"GET {_STRATEGIES}", READ, {200: StrategyPageDocument}, query=UNCOUNTED_PAGE)
def list_strategies(request: Request, caller: Principal) -> Response:
    """List the strategies that learn from conversations."""
    read = partial(request.services.strategies.list_all, caller)
    page, position = paginate_uncounted(request, caller, read, render_strategy, attrgetter("name"))
    return json_response(200, StrategyPageDocument(strategies=page, **position))


@ROUTES.add(
    f"PUT {_STRATEGY}",
    ADMIN,
    {200: StrategyDocument, 201: StrategyDocument},
    error_statuses=(404, 409, 429),
    if_match="optional",
    audited=(CHANGE_STRATEGY,),
)
def put_strategy(request: Request, caller: Principal, new: NewStrategy) -> Response:
    """Create or change a strategy.

    A changed strategy has a new version. It reads messages that the former version has not read.
    Repeating the request changes nothing.
    """
    name = request.path_param("name")
    stored, is_new = request.services.strategies.put(caller, name, new, request.if_match)
    location = f"{_STRATEGIES}/{quote(name, safe='')}"
    return stored_response(render_strategy(stored), stored.version, location, is_new=is_new)


@ROUTES.add(f"GET {_STRATEGY}", READ, {200: StrategyDocument})
def get_strategy(request: Request, caller: Principal) -> Response:
    """Get a strategy."""
    found = request.services.strategies.get(caller, request.path_param("name"))
    return json_response(200, render_strategy(found), found.version)


@ROUTES.add(
    f"DELETE {_STRATEGY}", ADMIN, {204: None}, if_match="optional", audited=(DELETE_STRATEGY,)
)
def delete_strategy(request: Request, caller: Principal) -> Response:
    """Delete a strategy; learned memory stays."""
    request.services.strategies.delete(caller, request.path_param("name"), request.if_match)
    return Response(204)


@ROUTES.add(f"GET {_STRATEGY}/status", READ, {200: StrategyStatusDocument}, response_headers=())
def get_strategy_status(request: Request, caller: Principal) -> Response:
    """Get the progress of a strategy.

    `budget` is the tenant's, for all of its strategies.
    """
    status = request.services.strategies.get_status(caller, request.path_param("name"))
    return json_response(200, render_status(status))

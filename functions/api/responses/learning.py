"""Strategies, as the API shows them."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import Count, Timestamp, UncountedPosition, Version
from functions.learning.model import Budget, Strategy, StrategyStatus
from functions.platform.clock import to_rfc3339


class TriggerDocument(TypedDict):
    """The condition on which a conversation is read."""

    messages: Version | None
    """The number of new messages that is enough."""
    idle: str | None
    """The age of the last message that is enough, as an ISO 8601 duration."""


class StrategyDocument(TypedDict):
    """A strategy that learns from conversations."""

    name: str
    kind: Literal["facts", "preferences", "summary", "episodes"]
    instructions: str
    namespace: str
    """The template of the namespace that entries are written to."""
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
    """They have new messages, and have not reached the trigger."""
    running: Count
    """A request to the model is running."""
    budget: Count
    """The budget of the day is used up. They are read on the next day."""
    retry: Count
    """The model did not answer. They are tried again, each time after a longer wait."""


class BudgetDocument(TypedDict):
    """The tenant's usage by strategies on a day (UTC), and its limits; null is no limit."""

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
    """Items that were added, or learned again."""
    ended: Count
    """Items that were ended."""
    dropped: Count
    """Items, or whole answers, that the schema does not allow."""
    failed: Count
    """Requests that the model did not answer."""
    requests: Count
    tokens: Count
    last_learned_at: Timestamp | None
    last_error: str | None
    last_error_at: Timestamp | None
    budget: BudgetDocument


def render_strategy(strategy: Strategy) -> StrategyDocument:
    return to_document(
        strategy,
        StrategyDocument,
        trigger=TriggerDocument(messages=strategy.messages, idle=strategy.idle),
    )


def render_status(status: StrategyStatus) -> StrategyStatusDocument:
    """Render a status, with the model that is asked at present."""
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


def _render_budget(budget: Budget) -> BudgetDocument:
    return {
        "day": budget.day,
        "tokens": budget.used.tokens,
        "tokens_limit": budget.limit.tokens or None,
        "requests": budget.used.requests,
        "requests_limit": budget.limit.requests or None,
    }

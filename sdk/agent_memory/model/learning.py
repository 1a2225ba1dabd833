"""Strategies that learn from conversations.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime

from agent_memory.document import Model
from agent_memory.model.literals import StrategyKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(Model):
    """The conditions that start the learning from a conversation.

    Attributes:
        messages: The number of new messages after which a conversation is read.
        idle: The age of the last message after which a conversation is read (ISO 8601).
    """

    messages: int | None = None
    idle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy(Model):
    """A strategy that learns from conversations.

    Attributes:
        namespace: The template for the namespace of learned entries.
        model: A model of the deployment; null for its first one.
        version: Counts the changes; send it as If-Match. Each learned item names it.
    """

    name: str
    kind: StrategyKind
    instructions: str
    namespace: str
    model: str | None = None
    trigger: Trigger
    enabled: bool
    version: int
    created_at: datetime
    updated_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(Model):
    """The number of waiting conversations, by reason.

    Attributes:
        trigger: Conversations with new messages that have not reached the trigger.
        running: Conversations with a running request to the model.
        budget: Conversations without budget today. They are read on the next day.
        retry: Conversations for which the model did not answer. They are retried after
            increasing waits.
    """

    trigger: int
    running: int
    budget: int
    retry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningBudget(Model):
    """The daily budget of strategies, and its use."""

    day: str
    tokens: int
    tokens_limit: int | None = None
    requests: int
    requests_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyStatus(Model):
    """The progress of a strategy.

    Attributes:
        model: The model in use; null if the deployment has none, and nothing is learned.
        waiting: At most 1,000 conversations are counted.
        learned: The number of items added or learned again.
        ended: The number of ended items.
        dropped: The number of items and answers that the schema does not allow.
        failed: The number of requests that the model did not answer.
    """

    name: str
    enabled: bool
    version: int
    model: str | None = None
    waiting: Waiting
    waiting_since: datetime | None = None
    learned: int
    ended: int
    dropped: int
    failed: int
    requests: int
    tokens: int
    last_learned_at: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    budget: LearningBudget

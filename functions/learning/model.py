"""Strategies, and their positions in conversations."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

StrategyKind = Literal["facts", "preferences", "summary", "episodes"]
WaitingReason = Literal["trigger", "running", "budget", "retry"]
DEFAULT_NAMESPACE = "users/{user_id}/memory"


class Strategy(NamedTuple):
    """A strategy: what is learned from conversations, and when. Times are epoch ms.

    Attributes:
        namespace: a template for the namespace of learned entries.
        model: the model to ask; None for the deployment's first one.
        messages: the number of new messages that makes a conversation due.
        idle: the time after its last message when a conversation is due (ISO 8601).
        idle_ms: the same, in milliseconds.
    """

    name: str
    kind: StrategyKind
    instructions: str
    namespace: str
    enabled: bool
    version: int
    created_at: int
    updated_at: int
    created_by: str
    model: str | None = None
    messages: int | None = None
    idle: str | None = None
    idle_ms: int | None = None


class Counts(NamedTuple):
    """The results of a strategy. Times are epoch ms.

    Attributes:
        dropped: invalid items and answers.
        failed: requests that the model did not answer.
    """

    learned: int = 0
    ended: int = 0
    dropped: int = 0
    failed: int = 0
    requests: int = 0
    tokens: int = 0
    last_learned_at: int | None = None
    last_error: str | None = None
    last_error_at: int | None = None


class Usage(NamedTuple):
    """The tokens and requests that a tenant's strategies used on a day, or may use."""

    tokens: int = 0
    requests: int = 0


class Budget(NamedTuple):
    """A tenant's budget of one day: its usage and limits."""

    day: str
    used: Usage
    limit: Usage


class Waiting(NamedTuple):
    """The number of waiting conversations by reason, and the time of the oldest."""

    by_reason: Mapping[WaitingReason, int]
    since: int | None


class StrategyStatus(NamedTuple):
    """The progress of a strategy."""

    strategy: Strategy
    model: str | None
    waiting: Waiting
    counts: Counts
    budget: Budget


class Position(NamedTuple):
    """The progress of a strategy in a conversation, and why it waits. Times are epoch ms.

    Attributes:
        generation: the generation of the messages that were read.
        read_until: the index of the first unread message.
        reason: why the conversation waits; None if it does not.
        due: when the schedule makes it ready; None for never.
        is_ready: whether the learning function should read it now.
        is_woken: whether the schedule has made it ready.
    """

    tenant: str
    session_id: str
    user_id: str
    strategy: str
    generation: str
    read_until: int = 0
    revision: int = 0
    reason: WaitingReason | None = None
    since: int | None = None
    due: int | None = None
    is_ready: bool = False
    is_woken: bool = False
    attempts: int = 0


class LearnedItem(NamedTuple):
    """The messages of a conversation from which a strategy has learned a fact or an entry.

    Attributes:
        target: the owner of the memory, and the kind of item.
        ref: the id of the fact, or the key of the entry.
        namespace: the entry's; None for a fact.
        messages: the indexes and digests of the messages, as `index:digest`.
        is_whole: whether it covers the whole conversation, as a summary does.
    """

    tenant: str
    session_id: str
    user_id: str
    strategy: str
    target: str
    ref: str
    version: int
    created_at: int
    messages: tuple[str, ...] = ()
    namespace: str | None = None
    is_whole: bool = False

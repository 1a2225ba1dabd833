"""Strategies, and how far they have read a conversation."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

StrategyKind = Literal["facts", "preferences", "summary", "episodes"]
WaitingReason = Literal["trigger", "running", "budget", "retry"]
DEFAULT_NAMESPACE = "users/{user_id}/memory"


class Strategy(NamedTuple):
    """Tells what is learned from a tenant's conversations, and when. Times are epoch ms.

    Attributes:
        namespace: a template of the namespace that entries are written to.
        model: the model that is asked; None for the deployment's first one.
        messages: how many new messages make a conversation due.
        idle: how long after its last message a conversation is due, as an ISO 8601 duration.
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
    """Tells what a strategy has done. Times are epoch ms.

    Attributes:
        dropped: items, and whole answers, that were not as they have to be.
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
    """Tells what a tenant's strategies have used on a day, or what they may use."""

    tokens: int = 0
    requests: int = 0


class Budget(NamedTuple):
    """A tenant's budget of one day: what is used, and the limits."""

    day: str
    used: Usage
    limit: Usage


class Waiting(NamedTuple):
    """Tells how many conversations wait, by the reason, and since when the longest of them does."""

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
    """Tells how far a strategy has read a conversation, and why it waits. Times are epoch ms.

    Attributes:
        generation: that of the messages that were read.
        read_until: the index of the first message that was not read.
        reason: why the conversation waits; None if it does not.
        due: when the schedule makes it ready; None for never.
        is_ready: whether the learning function is to read it now.
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
    """From which messages of a conversation a strategy has learned a fact or an entry.

    Attributes:
        target: whose memory it is in, and what kind of item it is.
        ref: the id of the fact, or the key of the entry.
        namespace: the entry's; None for a fact.
        messages: the indexes and digests of the messages, as `index:digest`.
        is_whole: whether it speaks of the whole conversation, as a summary does.
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

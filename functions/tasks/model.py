"""Tasks, intents and grants, and what is asked about them."""

from dataclasses import dataclass, field
from typing import Any, Literal

from functions.platform.limits import DEFAULT_TASK_ENTRIES, DEFAULT_TASK_KB

Status = Literal[
    "pending",
    "ready",
    "claimed",
    "running",
    "blocked",
    "completed",
    "failed",
    "cancelled",
    "skipped",
]
GrantAccess = Literal["read", "write"]

ENDED = frozenset({"completed", "failed", "cancelled", "skipped"})
RESULTS = frozenset({"status", "output", "error", "artifacts", "blocked_reason"})
"""What an assignee reports; everything else is the coordinator's to change."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A task's memory policy (RFC-0015 §6.5)."""

    archive_on_completion: bool = True
    inherit_from_parent: bool = False
    max_entries: int = DEFAULT_TASK_ENTRIES
    max_total_size_kb: int = DEFAULT_TASK_KB


@dataclass(frozen=True, slots=True)
class Grant:
    """Somebody's access to a task's working memory, until `expires` (epoch ms)."""

    principal: str
    access: GrantAccess
    expires: int


@dataclass(frozen=True, slots=True)
class Task:
    """A task as stored; times are epoch ms, sizes whole KB."""

    id: str
    intent: str | None
    status: Status
    version: int
    created: int
    updated: int
    policy: Policy
    assignee: str | None = None
    coordinator: str | None = None
    parent: str | None = None
    started: int | None = None
    ended: int | None = None
    archived: int | None = None  # when its memory had been archived or removed
    held: int = 0  # working entries
    attached: int = 0  # entries of other tiers that end with it
    joined: frozenset[str] = frozenset()  # agents that have the task in their task set
    by_write: bool = False  # registered by a write to a task that nobody had registered
    room: int = 0  # entries that still fit
    cap: int | None = None  # the most entries that its coordinator's guardrails let it have
    must_archive: bool = False  # whether they have its memory archived
    room_kb: int = 0
    parties: frozenset[str] = frozenset()  # who takes or took part
    heirs: frozenset[str] = frozenset()  # sub-tasks that inherit
    grants: tuple[Grant, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict)
    request: bytes | None = None
    adopted: int | None = None  # when it got its intent, if that was after it was created
    changes: int = 0  # how often its counters have changed

    @property
    def intent_from(self) -> int:
        """Since when the task belongs to its intent."""
        return self.created if self.adopted is None else self.adopted

    @property
    def is_empty(self) -> bool:
        """Whether no entry ends with it."""
        return self.held == 0 and self.attached == 0

    @property
    def awaits_archive(self) -> bool:
        """Whether it has ended, and its memory isn't archived yet."""
        return self.ended is not None and self.archived is None

    @property
    def archives(self) -> bool:
        """Whether its working memory is archived when it ends (RFC-0015 §6.5, §6.6)."""
        return self.policy.archive_on_completion or self.must_archive

    @property
    def most_entries(self) -> int:
        """How many working entries it may hold (RFC-0015 §6.5, §6.6)."""
        most = self.policy.max_entries
        return most if self.cap is None else min(most, self.cap)


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent: its owner, who takes or took part in its tasks, and its access list."""

    id: str
    owner: str
    parties: frozenset[str]
    acl: dict[str, GrantAccess]
    version: int

"""Tasks, intents, grants, guardrails, and assignments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from functions.identity.model import SERVICE, Actor
from functions.platform.idempotency import RequestHistory
from functions.platform.keys import build_list_position
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
FOREVER = 2**53
"""The expiry of a grant without an expiry."""

ENDED = frozenset({"completed", "failed", "cancelled", "skipped"})
RESULTS = frozenset({"status", "output", "error", "artifacts", "blocked_reason"})
"""The fields that an assignee changes; the coordinator changes all others."""
HAND_OVER = RESULTS - {"status"} | {"assigned_agent", "note"}
"""The fields by which an assignee hands the task over to a delegate."""
REPAIRS = frozenset({"assigned_agent", "coordinator", "status"})
"""The fields that `memory.admin` changes in any task; the status only to `cancelled`."""
ANYBODY = "*"
"""Stands for all agents in a task's delegates."""
GUARDRAILS = (
    "max_working_memory_per_task",
    "max_episodic_memory_per_agent",
    "allowed_semantic_namespaces",
    "denied_semantic_namespaces",
    "memory_archive_required",
)


class Policy(NamedTuple):
    """A task's memory policy (RFC-0015 §6.5)."""

    archive_on_completion: bool = True
    inherit_from_parent: bool = False
    max_entries: int = DEFAULT_TASK_ENTRIES
    max_total_size_kb: int = DEFAULT_TASK_KB

    @property
    def max_bytes(self) -> int:
        """Return the maximum of bytes of its working memory's values."""
        return 1024 * self.max_total_size_kb


class Grant(NamedTuple):
    """A principal's access to a task's working memory; times are epoch ms.

    Attributes:
        expires_at: the time when it ends.
        term: the task's term, if the assignee granted it: the grant ends with the term. None if the
            coordinator granted it.
    """

    principal: str
    access: GrantAccess
    expires_at: int
    granted_by: str = ""
    created_at: int = 0
    term: int | None = None

    def counts(self, term: int, now: int) -> bool:
        """Tell whether it is valid at a time (epoch ms), in the task's present term."""
        return self.expires_at > now and self.term in (None, term)

    @property
    def list_position(self) -> str:
        """Return what lists sort by, newest first."""
        return build_list_position(self.created_at, self.principal)


class Membership(NamedTuple):
    """The roles of a principal in a task, except its present assignee and coordinator.

    Attributes:
        grant: on the task, valid or not.
        was_assignee: whether it was an earlier assignee of the task.
        inherited_terms: the terms in which it is the assignee of an open sub-task that inherits;
            None is any term.
    """

    grant: Grant | None = None
    was_assignee: bool = False
    was_coordinator: bool = False
    inherited_terms: frozenset[int | None] = frozenset()


class Assignment(NamedTuple):
    """An open task that is assigned to an agent.

    Attributes:
        created_at: when the task was created, in epoch ms.
        inherits_from: the parent whose working memory the task inherits.
        guarded_by: former coordinators whose guardrails still bind the assignee.
    """

    task_id: str
    coordinator: str | None
    created_at: int
    inherits_from: str | None = None
    guarded_by: tuple[str, ...] = ()

    @property
    def guarding_coordinators(self) -> tuple[str, ...]:
        """The coordinators whose guardrails bind the assignee."""
        return (*filter(None, (self.coordinator,)), *self.guarded_by)

    @property
    def list_position(self) -> str:
        """Return what lists sort by, newest first."""
        return build_list_position(self.created_at, self.task_id)


class TaskUsage(NamedTuple):
    """An agent's usage of a task, or its change.

    Attributes:
        entries: of working memory.
        size: bytes of their values.
        attached: entries of other tiers that end with the task.
    """

    entries: int = 0
    size: int = 0
    attached: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """A stored task; times are epoch ms.

    Attributes:
        archived_at: when its memory was archived or removed.
        held: the number of each agent's working entries in it, by the agent's hashed id.
        attached: the number of entries of other tiers that end with it.
        term: counts its assignees, and its adoption: permissions from an assignee end with it.
        granted: the number of grants by the assignee in this term.
        sub_tasks: the number of sub-tasks that it has registered in this term.
        leaving: former assignees and coordinators whose entries aren't fenced yet.
        parent_term: the parent's term with which inheritance ends, if its assignee registered the
            task for itself.
        delegates: the agents for which its assignee may register sub-tasks, and to which it may
            hand the task over; None until its registration takes the coordinator's default.
        guarded_by: former coordinators whose guardrails still bind it.
        hand_over_note: the note of the last assignee to its successor.
        free_entries, free_bytes: working memory that still fits.
        entry_cap: the limit of entries by its coordinator's guardrails.
        archive_required: whether guardrails have its memory archived.
        extra_fields: fields that memory doesn't use, as given.
        is_of_agents: whether an agent registered it, and no coordinator has adopted or changed it.
        adopted_at: when it got its intent, if later than its creation.
        counter_changes: the number of changes of its counters; None if these aren't known.
    """

    id: str
    intent_id: str | None
    status: Status
    version: int
    created_at: int
    updated_at: int
    memory_policy: Policy
    assigned_agent: str | None = None
    coordinator: str | None = None
    parent_task_id: str | None = None
    started_at: int | None = None
    completed_at: int | None = None
    archived_at: int | None = None
    ender: Actor = SERVICE
    held: Mapping[str, int] = field(default_factory=dict)
    attached: int = 0
    registered_by: str | None = None
    is_of_agents: bool = False
    term: int = 1
    granted: int = 0
    sub_tasks: int = 0
    leaving: tuple[str, ...] = ()
    parent_term: int | None = None
    delegates: tuple[str, ...] | None = ()
    guarded_by: tuple[str, ...] = ()
    hand_over_note: str | None = None
    free_entries: int = 0
    free_bytes: int = 0
    entry_cap: int | None = None
    archive_required: bool = False
    extra_fields: dict[str, Any] = field(default_factory=dict)
    request: bytes | None = None
    adopted_at: int | None = None
    counter_changes: int | None = 0

    @property
    def list_position(self) -> str:
        """Return what lists sort by, newest first."""
        return build_list_position(self.created_at, self.id)

    @property
    def members(self) -> frozenset[str]:
        """Return its registrar, and its present assignee and coordinator."""
        return frozenset(filter(None, (self.registered_by, self.assigned_agent, self.coordinator)))

    @property
    def own_of(self) -> str | None:
        """The assignee, while the task is open and has no coordinator."""
        is_own = self.coordinator is None and self.completed_at is None
        return self.assigned_agent if is_own else None

    @property
    def guarding_coordinators(self) -> tuple[str, ...]:
        """The coordinators whose guardrails bind it: its own, then former ones."""
        return (*filter(None, (self.coordinator,)), *self.guarded_by)

    def has_delegate(self, agent: str) -> bool:
        """Tell whether its assignee may register sub-tasks for an agent."""
        return not {agent, ANYBODY}.isdisjoint(self.delegates or ())

    @property
    def inherits_from(self) -> str | None:
        """The parent whose working memory its assignee reads, too."""
        return self.parent_task_id if self.memory_policy.inherit_from_parent else None

    @property
    def working_entries(self) -> int:
        """Return the number of its working entries."""
        return sum(self.held.values())

    def working_of(self, hashed_agent: str) -> int:
        """Return the number of an agent's working entries in it."""
        return self.held.get(hashed_agent, 0)

    @property
    def in_intent_since(self) -> int:
        """The time since which the task belongs to its intent."""
        return self.created_at if self.adopted_at is None else self.adopted_at

    @property
    def is_empty(self) -> bool:
        """Tell whether no entry ends with it."""
        return self.working_entries == 0 and self.attached == 0

    @property
    def awaits_archive(self) -> bool:
        """Tell whether it has ended, and its memory isn't archived yet."""
        return self.completed_at is not None and self.archived_at is None

    @property
    def max_entries(self) -> int:
        """Return the limit of its working entries (RFC-0015 §6.5, §6.6)."""
        most = self.memory_policy.max_entries
        return most if self.entry_cap is None else min(most, self.entry_cap)


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent: its owner, its participant, and its access list.

    Attributes:
        participants: the principal that it was read for, if it takes or took part in a task.
        owner: None while only agents have used it.
        created_at: when it was first named, in epoch ms.
        version: counts the changes of owner and access list; 0 if it doesn't exist.
    """

    intent_id: str
    owner: str | None = None
    participants: frozenset[str] = frozenset()
    acl: dict[str, GrantAccess] = field(default_factory=dict)
    created_at: int = 0
    version: int = 0

    @property
    def list_position(self) -> str:
        """Return what lists sort by, newest first."""
        return build_list_position(self.created_at, self.intent_id)


@dataclass(frozen=True, slots=True)
class CoordinatorGuardrails:
    """A coordinator's guardrails and their version, 0 if none were set.

    Attributes:
        given: the guardrails that are set, by name; others than memory's are unchanged.
    """

    coordinator_id: str
    given: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    updated_at: int | None = None  # epoch ms
    requests: RequestHistory | None = None

    @property
    def members(self) -> dict[str, Any]:
        """All guardrails by name, as responses show them; None if not set."""
        return {**dict.fromkeys(GUARDRAILS), **self.given}

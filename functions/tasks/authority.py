"""Define who may do what with tasks, grants, guardrails and intents."""

from typing import NamedTuple

from functions.authorization.rules import HOLDS_ADMIN, INSPECTS, Action, Rule, authorize, is_allowed
from functions.identity.model import ADMIN, WRITE, Principal
from functions.platform.errors import AccessDenied, TaskReassigned, ValidationFailed
from functions.tasks.model import (
    HAND_OVER,
    REPAIRS,
    RESULTS,
    Grant,
    Intent,
    Membership,
    Status,
    Task,
)
from functions.tasks.rules import assert_open, is_coordinator

_NO_MEMBER = Membership()


class TaskTarget(NamedTuple):
    """A task, with the facts that decide on access.

    Attributes:
        member: the caller's membership besides its roles.
        fields: the fields to change.
        status: the status to set; None for no change.
        assignee: the next assignee; None for no change.
    """

    task: Task
    now: int
    member: Membership = _NO_MEMBER
    fields: frozenset[str] = frozenset()
    status: Status | None = None
    assignee: str | None = None

    def find_grant(self) -> Grant | None:
        """Return the caller's grant, if it is valid."""
        grant = self.member.grant
        return grant if grant is not None and grant.counts(self.task.term, self.now) else None


def _holds_write_grant(_: Principal, target: TaskTarget) -> bool:
    grant = target.find_grant()
    return grant is not None and grant.access == "write"


_IS_COORDINATOR = Rule[TaskTarget](
    "coordinator of the task", lambda caller, target: is_coordinator(caller, target.task)
)
_IS_ASSIGNEE = Rule[TaskTarget](
    "assignee of the task", lambda caller, target: caller.id == target.task.assigned_agent
)
_HOLDS_GRANT = Rule[TaskTarget](
    "holder of a grant on the task", lambda _, target: target.find_grant() is not None
)
_HOLDS_WRITE_GRANT = Rule[TaskTarget]("holder of a write grant on the task", _holds_write_grant)
_INHERITS = Rule[TaskTarget](
    "assignee of a sub-task that inherits",
    # A sub-task that the parent's assignee registered for itself inherits until the parent is
    # handed over. A sub-task of the coordinator has no term.
    lambda _, target: not target.member.inherited_terms.isdisjoint((None, target.task.term)),
)
_REGISTERED = Rule[TaskTarget](
    "registered the task", lambda caller, target: caller.id == target.task.registered_by
)
_TOOK_PART = Rule[TaskTarget](
    "former assignee or coordinator of the task",
    lambda _, target: target.member.was_assignee or target.member.was_coordinator,
)


def _repairs_task(caller: Principal, target: TaskTarget) -> bool:
    is_repair = bool(target.fields) and target.fields <= REPAIRS
    may_set = target.status in (None, "cancelled")
    return is_repair and may_set and ADMIN in caller.permissions


READ_MEMORY = Action(
    "task.read_memory",
    (_IS_COORDINATOR, _IS_ASSIGNEE, _HOLDS_GRANT, _INHERITS, INSPECTS),
    denied="you may not read the memory of this task",
)
WRITE_MEMORY = Action(
    "task.write_memory",
    (_IS_COORDINATOR, _IS_ASSIGNEE, _HOLDS_WRITE_GRANT),
    denied="only a task's assignee, coordinator and grant holders may write for it",
)
TAKE_PART = Action(
    "task.take_part", (*WRITE_MEMORY.rules, _REGISTERED, _TOOK_PART), denied=WRITE_MEMORY.denied
)
"""Use the task as the scope of memory that doesn't end with it."""

READ_TASK: Action[TaskTarget] = Action(
    "task.read",
    (*READ_MEMORY.rules, _REGISTERED, _TOOK_PART, HOLDS_ADMIN),
    denied="you take no part in this task; ask its coordinator",
)


def _sets_results_as_assignee(caller: Principal, target: TaskTarget) -> bool:
    is_assignee = WRITE in caller.permissions and _IS_ASSIGNEE.holds(caller, target)
    return is_assignee and target.fields <= RESULTS


def _hands_over_as_assignee(caller: Principal, target: TaskTarget) -> bool:
    is_assignee = WRITE in caller.permissions and _IS_ASSIGNEE.holds(caller, target)
    is_delegate = target.assignee is not None and target.task.has_delegate(target.assignee)
    return is_assignee and is_delegate and target.fields <= HAND_OVER


CHANGE_TASK = Action(
    "task.change",
    (
        Rule[TaskTarget](
            _IS_COORDINATOR.name,
            lambda caller, target: (
                WRITE in caller.permissions and _IS_COORDINATOR.holds(caller, target)
            ),
        ),
        Rule[TaskTarget]("assignee of the task, for status and results", _sets_results_as_assignee),
        Rule[TaskTarget](
            "assignee of the task, for a hand-over to a delegate", _hands_over_as_assignee
        ),
        Rule[TaskTarget](
            "holds memory.admin, for assignee, coordinator and cancelling", _repairs_task
        ),
    ),
    denied="only its coordinator may change a task; its assignee may set status and results, and "
    "hand the task over to a delegate",
    is_audited=True,
)


def has_left(caller: Principal, target: TaskTarget, member: Membership) -> bool:
    """Tell whether a completed change removed the caller's role in the task."""
    handed_over = member.was_assignee and target.assignee == target.task.assigned_agent
    passed_on = member.was_coordinator and "coordinator" in target.fields
    return WRITE in caller.permissions and (handed_over or passed_on)


LET_INHERIT = Action(
    "task.let_inherit",
    (_IS_COORDINATOR, _IS_ASSIGNEE),
    denied="only the parent's coordinator or assignee may let a sub-task inherit",
)
"""The target is the parent."""


def authorize_inheritance(caller: Principal, parent: Task | None, now: int) -> None:
    """Check that the caller may let a sub-task inherit from this parent."""
    if parent is None:
        raise ValidationFailed("memory_policy.inherit_from_parent", "needs a parent_task_id")
    authorize(caller, LET_INHERIT, TaskTarget(parent, now))


LIST_GRANTS = Action(
    "task.list_grants",
    (_IS_COORDINATOR, _IS_ASSIGNEE, HOLDS_ADMIN, INSPECTS),
    denied="only a task's coordinator and assignee, and memory.admin, may list its grants",
)
GRANT = Action(
    "task.grant",
    (_IS_COORDINATOR, _IS_ASSIGNEE),
    denied="only the task's coordinator and assignee may give and revoke grants",
    is_audited=True,
)
REVOKE_GRANT = Action("task.revoke_grant", GRANT.rules, GRANT.denied, is_audited=True)


class Registration(NamedTuple):
    """A task to register.

    Attributes:
        assignee, coordinator: as the request names them.
        names_delegates: whether the request says for whom its assignee may register sub-tasks.
    """

    assignee: str | None
    coordinator: str | None = None
    parent: Task | None = None
    names_delegates: bool = False


def _registers_as_coordinator(caller: Principal, new: Registration) -> bool:
    names_itself = new.coordinator in (None, caller.id)
    may_name_others = caller.kind == "user" or ADMIN in caller.permissions
    return caller.may_coordinate and (names_itself or may_name_others)


def _registers_for_itself(caller: Principal, new: Registration) -> bool:
    is_own = new.parent is None or (
        new.parent.coordinator is None and new.parent.assigned_agent == caller.id
    )
    names_nobody = new.coordinator is None and not new.names_delegates
    return is_own and names_nobody and new.assignee in (None, caller.id)


def _registers_sub_task(caller: Principal, new: Registration) -> bool:
    parent = new.parent
    if parent is None or parent.coordinator is None or parent.assigned_agent != caller.id:
        return False
    if new.coordinator not in (None, parent.coordinator) or new.names_delegates:
        return False
    return new.assignee in (None, caller.id) or parent.has_delegate(str(new.assignee))


REGISTER_TASK = Action[Registration](
    "task.register",
    (
        Rule("user, coordinator for itself, or memory.admin", _registers_as_coordinator),
        Rule("agent, for itself and without a coordinator", _registers_for_itself),
        Rule("assignee of the parent, for itself or a delegate", _registers_sub_task),
    ),
    denied="an agent may register a task for itself without a coordinator, or a sub-task of its "
    "task, with the same coordinator, for itself or a delegate",
    is_audited=True,
)
"""Audited where the assignee is another principal."""
ADOPT_TASK = Action[Task](
    "task.adopt",
    (
        Rule(
            "coordinator or user, while only agents have registered and changed the task",
            lambda caller, task: (
                caller.may_coordinate and (task.coordinator is None or task.is_of_agents)
            ),
        ),
    ),
    denied="another task has this id; choose another id",
    is_audited=True,
)


def authorize_write(caller: Principal, action: Action[TaskTarget], target: TaskTarget) -> None:
    """Check that the caller may do this in a task; a former assignee gets its own error."""
    if is_allowed(caller, action, target):
        return
    if target.member.was_assignee and caller.id != target.task.assigned_agent:
        assert_open(target.task)
        raise TaskReassigned("this task is no longer yours; its new assignee continues")
    raise AccessDenied(action.denied)


READ_GUARDRAILS = Action(
    "guardrails.read",
    (
        Rule[str]("the coordinator itself", lambda caller, coordinator: caller.id == coordinator),
        HOLDS_ADMIN,
    ),
    denied="only the coordinator and memory.admin may read guardrails",
)
CHANGE_GUARDRAILS = Action(
    "guardrails.change",
    (HOLDS_ADMIN,),
    denied="setting guardrails needs memory.admin",
    is_audited=True,
)


class SnapshotTarget(NamedTuple):
    """The values of an agent's snapshots in an intent's log."""

    intent: Intent
    agent: str


_OWNS = Rule[Intent]("owner of the intent", lambda caller, intent: caller.id == intent.owner)
_TAKES_PART = Rule[Intent](
    "takes or took part in the intent", lambda caller, intent: caller.id in intent.participants
)
_IS_LISTED = Rule[Intent](
    "on the intent's access list", lambda caller, intent: caller.id in intent.acl
)
_MAY_CLAIM = Rule[Intent](
    "first coordinator or user to name the intent",
    lambda caller, intent: intent.owner is None and caller.may_coordinate,
)
_USES_UNCLAIMED = Rule[Intent](
    "agent, while the intent has no owner",
    lambda caller, intent: intent.owner is None and caller.kind == "agent",
)

READ_INTENT = Action(
    "intent.read",
    (_OWNS, _TAKES_PART, _IS_LISTED, HOLDS_ADMIN, INSPECTS),
    denied="you take no part in this intent; ask its owner",
)
READ_LOG = Action(
    "intent.read_log", (*READ_INTENT.rules, _USES_UNCLAIMED), denied=READ_INTENT.denied
)
"""The principal that reads the log, but not the intent, reads only the events of its memory."""

READ_SNAPSHOT = Action(
    "intent.read_snapshot",
    (
        Rule[SnapshotTarget](_OWNS.name, lambda caller, of: _OWNS.holds(caller, of.intent)),
        Rule[SnapshotTarget](
            _IS_LISTED.name, lambda caller, of: _IS_LISTED.holds(caller, of.intent)
        ),
        Rule[SnapshotTarget](
            "the agent whose memory it was", lambda caller, of: caller.id == of.agent
        ),
        INSPECTS,
    ),
    denied="only the intent's owner, its access list and the agent may read a snapshot's values",
)

USE_INTENT = Action(
    "intent.use",
    (
        _OWNS,
        _TAKES_PART,
        Rule[Intent](
            "write access by the intent's access list",
            lambda caller, intent: intent.acl.get(caller.id) == "write",
        ),
        _MAY_CLAIM,
        _USES_UNCLAIMED,
    ),
    denied="this intent belongs to another principal; ask its owner for access",
)
SET_ACL = Action(
    "intent.set_acl",
    (
        _OWNS,
        _MAY_CLAIM,
        Rule[Intent](
            "holds memory.admin, and the intent has an owner",
            lambda caller, intent: intent.owner is not None and HOLDS_ADMIN.holds(caller, intent),
        ),
    ),
    denied="only an intent's owner may set its access list; if it has none, memory.admin sets one",
    is_audited=True,
)
SET_OWNER = Action(
    "intent.set_owner",
    (HOLDS_ADMIN,),
    denied="setting an intent's owner needs memory.admin",
    is_audited=True,
)

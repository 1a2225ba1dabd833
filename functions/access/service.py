"""Explain who may read and write what.

It checks the same actions as the services, on what the services would read for that principal.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from functions.access.authority import EXPLAIN_ACCESS, AccessQuestion
from functions.authorization.rules import Action, Decision, authorize, decide, is_allowed
from functions.conversations.authority import CHANGE_CONVERSATION, READ_CONVERSATION
from functions.conversations.service import Conversations
from functions.entries.authority import READ_ENTRY, WRITE_ENTRY
from functions.entries.read import EntryReader
from functions.identity.model import INSPECT, READ, WRITE, Permission, Principal
from functions.identity.service import Principals
from functions.namespaces import authority as namespaces_authority
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.tasks import authority as tasks_authority
from functions.tasks.access import TaskAccess
from functions.tasks.authority import TaskTarget
from functions.tasks.rules import is_assignee_or_coordinator, is_coordinator, task_not_found

NO_RULE = "no rule permits it"


class Check(NamedTuple):
    """An action that must be permitted on its target."""

    action: Action[Any]
    target: Any


class Checks(NamedTuple):
    """All that must be permitted.

    Attributes:
        barrier: what prevents every access, regardless of the rules; None if nothing does.
    """

    every: tuple[Check, ...]
    barrier: str | None = None


def decide_all(principal: Principal, permission: Permission, checks: Checks, now: int) -> Decision:
    """Decide whether a principal may do all actions; the first action's rule is the reason.

    Args:
        permission: a permission that the principal must have, too.
    """
    if principal.expires_at is not None and principal.expires_at <= now:
        return Decision(False, "the principal has expired")
    inspects = permission == READ and INSPECT in principal.permissions
    if permission not in principal.permissions and not inspects:
        return Decision(False, f"lacks {permission}")
    if checks.barrier is not None:
        return Decision(False, checks.barrier)
    decisions = [decide(principal, each.action, each.target) for each in checks.every]
    if all(each.allowed for each in decisions):
        return decisions[0]
    return Decision(False, NO_RULE)


TargetKind = Literal["entry", "namespace", "task", "conversation"]


class AccessTarget(NamedTuple):
    """The target; `id` is a namespace's name, or a task's for its working memory."""

    kind: TargetKind
    id: str


class _Found(NamedTuple):
    """The checks of a principal's access to a target, and the principal's role at it."""

    read: Checks
    write: Checks
    is_owner: bool
    is_coordinator: bool = False


@dataclass(eq=False)
class AccessExplanations:
    """Explains access to items of a caller's tenant."""

    _entries: EntryReader
    _namespaces: Namespaces
    _tasks: TaskAccess
    _conversations: Conversations
    _principals: Principals
    _clock: Clock

    def explain(
        self, caller: Principal, principal_id: str, target: AccessTarget
    ) -> tuple[Decision, Decision]:
        """Explain whether a principal may read and write a target, and by which rules.

        Raises:
            EntryNotFound, NotFound: the caller's tenant has no such target, or no such principal.
            AccessDenied: the caller asks about another principal, and is neither the target's owner
                nor its coordinator, and has no `memory.admin`.
        """
        principal, found = caller, self._find(caller, target)
        question = AccessQuestion(principal_id, found.is_owner, found.is_coordinator)
        authorize(caller, EXPLAIN_ACCESS, question)
        if principal_id != caller.id:
            principal = self._principals.get_principal(caller.tenant, principal_id)
            found = self._find(principal, target)
        now = self._clock()
        read = decide_all(principal, READ, found.read, now)
        return read, decide_all(principal, WRITE, found.write, now)

    def _find(self, principal: Principal, target: AccessTarget) -> _Found:
        match target.kind:
            case "entry":
                return self._find_entry(principal, target.id)
            case "namespace":
                return _find_namespace(principal, self._namespaces.find(principal, target.id))
            case "task":
                return self._find_task(principal, target.id)
            case "conversation":
                return self._find_conversation(principal, target.id)

    def _find_entry(self, principal: Principal, entry_id: str) -> _Found:
        target = self._entries.find_target(principal, entry_id)
        read, write = Check(READ_ENTRY, target), Check(WRITE_ENTRY, target)
        is_owner = target.entry.agent_id == principal.id
        if target.namespace is not None:
            barrier = _find_guardrail(target.namespace)
            manages = _manages_namespace(principal, target.namespace)
            return _Found(Checks((read,), barrier), Checks((write,), barrier), is_owner or manages)
        if target.task is None:
            return _Found(Checks((read,)), Checks((write,)), is_owner, target.is_overseen)
        in_task = _find_task_write(target.task)
        return _Found(
            Checks((read,)),
            Checks((write, *in_task.every), in_task.barrier),
            is_owner,
            is_coordinator(principal, target.task.task),
        )

    def _find_task(self, principal: Principal, task_id: str) -> _Found:
        target = self._tasks.find_memory_target(principal, task_id)
        if target is None:
            raise task_not_found()
        return _Found(
            Checks((Check(tasks_authority.READ_MEMORY, target),)),
            _find_task_write(target),
            is_owner=is_assignee_or_coordinator(principal, target.task),
        )

    def _find_conversation(self, principal: Principal, session: str) -> _Found:
        found = self._conversations.find_header(principal, session)
        return _Found(
            Checks((Check(READ_CONVERSATION, found),)),
            Checks((Check(CHANGE_CONVERSATION, found),)),
            is_owner=is_allowed(principal, CHANGE_CONVERSATION, found),
        )


def _find_namespace(principal: Principal, target: NamespaceTarget) -> _Found:
    barrier = _find_guardrail(target)
    return _Found(
        Checks((Check(namespaces_authority.READ_MEMORY, target),), barrier),
        Checks((Check(namespaces_authority.WRITE_MEMORY, target),), barrier),
        is_owner=_manages_namespace(principal, target),
    )


def _manages_namespace(principal: Principal, target: NamespaceTarget) -> bool:
    return is_allowed(principal, namespaces_authority.CHANGE_PERMISSIONS, target)


def _find_guardrail(target: NamespaceTarget) -> str | None:
    return "barred by a coordinator's guardrails" if target.is_denied else None


def _find_task_write(target: TaskTarget) -> Checks:
    barrier = None if target.task.completed_at is None else "the task has ended"
    return Checks((Check(tasks_authority.WRITE_MEMORY, target),), barrier)

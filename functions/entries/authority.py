"""Define who may read, write, and query an entry or an agent's memory.

RFC-0015 §2, §4.1, §9.1.
"""

from typing import NamedTuple

from functions.authorization.rules import (
    HOLDS_ADMIN,
    INSPECTS,
    Action,
    Rule,
    authorize,
    inspects,
    is_allowed,
)
from functions.entries.filters import Filters
from functions.entries.model import Entry
from functions.entries.tiers import EPISODIC, POLICIES, WORKING
from functions.identity.model import ADMIN, Principal
from functions.namespaces.authority import READ_MEMORY as READ_NAMESPACE_MEMORY
from functions.namespaces.authority import WRITE_MEMORY
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.rules import find_owner
from functions.platform.errors import ValidationFailed
from functions.platform.limits import DEFAULT_TASK_ENTRIES
from functions.tasks.access import TaskAccess
from functions.tasks.authority import READ_MEMORY as READ_TASK_MEMORY
from functions.tasks.authority import TaskTarget
from functions.tasks.model import Task


class AgentTarget(NamedTuple):
    """An agent; `is_overseen`: whether the caller coordinates one of its open tasks."""

    agent: str
    is_overseen: bool = False


class SuccessionTarget(NamedTuple):
    """An entry in a task; `is_former`: whether its owner was an earlier assignee of the task."""

    assignee: str | None
    is_former: bool


class EntryTarget(NamedTuple):
    """An entry, with the facts that decide on the caller's access.

    Attributes:
        namespace: where semantic memory is; None for private memory.
        task: the task of working memory; None without one, or if the owner's access decides.
        is_overseen: whether the caller coordinates an open task of the agent whose episodic memory
            it is.
    """

    entry: Entry
    namespace: NamespaceTarget | None = None
    task: TaskTarget | None = None
    is_overseen: bool = False


def _by_namespace(rule: Rule[NamespaceTarget]) -> Rule[EntryTarget]:

    def holds(caller: Principal, target: EntryTarget) -> bool:
        namespace = None if target.entry.policy.is_private else target.namespace
        return namespace is not None and rule.holds(caller, namespace)

    return Rule(rule.name, holds)


def _by_task(rule: Rule[TaskTarget]) -> Rule[EntryTarget]:
    return Rule(
        rule.name,
        lambda caller, target: target.task is not None and rule.holds(caller, target.task),
    )


_OWNS = Rule[EntryTarget](
    "owner of the memory",
    lambda caller, target: target.entry.policy.is_private and target.entry.agent_id == caller.id,
)

READ_ENTRY: Action[EntryTarget] = Action(
    "entry.read",
    (
        _OWNS,
        *map(_by_task, READ_TASK_MEMORY.rules),
        Rule("coordinator of the agent's task", lambda _, target: target.is_overseen),
        *map(_by_namespace, READ_NAMESPACE_MEMORY.rules),
        INSPECTS,
    ),
    "you may not read this memory",
)
WRITE_ENTRY: Action[EntryTarget] = Action(
    "entry.write",
    (_OWNS, *map(_by_namespace, WRITE_MEMORY.rules)),
    "you may not write this memory",
)
"""Change or delete an entry; in a task, the task's rules apply, too."""

REMOVE_ENTRY: Action[EntryTarget] = Action(
    "entry.remove",
    (
        *WRITE_ENTRY.rules,
        Rule(
            "holds memory.admin, in an agent's own namespace",
            lambda caller, target: (
                ADMIN in caller.permissions
                and target.namespace is not None
                and find_owner(target.namespace.name) is not None
            ),
        ),
    ),
    "you may not delete this memory",
)
"""Delete an entry. `memory.admin` deletes what it doesn't read."""

CONFIGURE_AGENT: Action[AgentTarget] = Action(
    "agent.configure",
    (HOLDS_ADMIN,),
    "setting an agent's limits needs memory.admin",
    is_audited=True,
)
_IS_AGENT: Rule[AgentTarget] = Rule(
    "the agent itself", lambda caller, target: caller.id == target.agent
)
_OVERSEES: Rule[AgentTarget] = Rule(
    "coordinator of the agent's task", lambda _, target: target.is_overseen
)
READ_AGENT: Action[AgentTarget] = Action(
    "agent.read",
    (_IS_AGENT, HOLDS_ADMIN, _OVERSEES, INSPECTS),
    "only the agent, a coordinator of its tasks, and memory.admin may do this",
)
READ_EVICTION_ORDER: Action[AgentTarget] = Action(
    "agent.read_eviction_order",
    (_IS_AGENT, _OVERSEES, INSPECTS),
    "only the agent and a coordinator of its tasks may do this",
)
"""See which episodic entries are evicted next: the rules of reading them apply."""
REPLACE_ENTRY: Action[SuccessionTarget] = Action(
    "entry.replace",
    (
        Rule(
            "the task's assignee, after the entry's owner",
            lambda caller, target: target.is_former and caller.id == target.assignee,
        ),
    ),
    "only a task's present assignee may replace entries of earlier ones",
    is_audited=True,
)
"""Replace the entry of a former assignee, as its successor (RFC-0015 §8.2)."""
CHANGE_ENTRY = Action("entry.change", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)
"""Change an entry of semantic memory that another principal made."""
DELETE_ENTRY = Action("entry.delete", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)
"""Delete or replace an entry that another principal made."""


def assert_can_read(
    tasks: TaskAccess, caller: Principal, entry: Entry, namespace: NamespaceTarget | None
) -> None:
    """Raise `AccessDenied` when the caller may not read the entry.

    Args:
        tasks: used only for another agent's private memory.
        namespace: the entry's; None for a private entry.
    """
    if not is_allowed(caller, READ_ENTRY, EntryTarget(entry, namespace)):
        authorize(caller, READ_ENTRY, build_target(tasks, caller, entry, namespace))


def build_target(
    tasks: TaskAccess, caller: Principal, entry: Entry, namespace: NamespaceTarget | None
) -> EntryTarget:
    """Read what decides on the caller's access to an entry, except its namespace."""
    if not entry.policy.is_private:
        return EntryTarget(entry, namespace)
    if entry.policy.is_task_bound:
        task = None if entry.task_id is None else tasks.find_memory_target(caller, entry.task_id)
        return EntryTarget(entry, task=task)
    return EntryTarget(entry, is_overseen=tasks.coordinates_agent(caller, entry.agent_id))


class PrivateScope(NamedTuple):
    """Private memory that a query names and that its caller may read.

    Attributes:
        agent_id: the owner; empty for a task's working memory.
        task: the task whose working memory it is; None for an agent's memory.
        is_inherited: whether a sub-task of the task shows it.
        task_ids: the caller may read only entries of these tasks; None if it may read all.
    """

    filters: Filters
    agent_id: str = ""
    task: Task | None = None
    is_inherited: bool = False
    task_ids: frozenset[str] | None = None

    @property
    def is_small(self) -> bool:
        """Tell whether the scope is so small that a page reads all of it."""
        names_slot = self.filters.namespace is not None and self.filters.key is not None
        return names_slot or (
            self.task is not None and self.task.working_entries <= DEFAULT_TASK_ENTRIES
        )


class PrivateMemory:
    """Decides which private memory a query reads."""

    def __init__(self, tasks: TaskAccess) -> None:
        self._tasks = tasks

    def list_scopes(
        self, caller: Principal, filters: Filters, *, includes_inherited: bool
    ) -> list[PrivateScope]:
        """List the private memory that the filters name and the caller may read."""
        task = self._find_task(caller, filters)
        if task is None:
            return self._list_of_owner(caller, filters)
        working = filters._replace(memory_type=WORKING.name)
        scopes = [PrivateScope(working, task=task)]
        if includes_inherited and task.inherits_from is not None:
            scopes += [
                PrivateScope(working._replace(task_id=parent.id), task=parent, is_inherited=True)
                for parent in self._tasks.select_readable(caller, (task.inherits_from,))
            ]
        if EPISODIC.name in filters.memory_types:
            episodic = filters._replace(memory_type=EPISODIC.name)
            scopes += self._list_of_owner(caller, episodic)
        return scopes

    def _find_task(self, caller: Principal, filters: Filters) -> Task | None:
        """Return the task whose working memory the filters name, if the caller may read it."""
        if filters.task_id is None or WORKING.name not in filters.memory_types:
            return None
        readable = self._tasks.select_readable(caller, (filters.task_id,))
        return readable[0] if readable else None

    def _list_of_owner(self, caller: Principal, filters: Filters) -> list[PrivateScope]:
        owner, types = filters.agent_id or caller.id, filters.memory_types
        if not any(POLICIES[each].is_private for each in types):
            return []
        if owner == caller.id or inspects(caller):
            return [PrivateScope(filters, owner)]
        scopes = []
        if WORKING.name in types and filters.task_id is None:
            working = filters._replace(memory_type=WORKING.name)
            if readable := self._tasks.list_readable_of(caller, owner):
                scopes.append(PrivateScope(working, owner, task_ids=readable))
        if EPISODIC.name in types and self._tasks.coordinates_agent(caller, owner):
            scopes.append(PrivateScope(filters._replace(memory_type=EPISODIC.name), owner))
        return scopes

    def has_unreadable(self, caller: Principal, filters: Filters) -> bool:
        """Tell whether filters name private memory that the caller may not read."""
        if filters.task_id is not None and filters.memory_type != EPISODIC.name:
            return not self._tasks.select_readable(caller, (filters.task_id,))
        owner = filters.agent_id or caller.id
        if owner == caller.id or inspects(caller):
            return False
        return filters.memory_type != EPISODIC.name or not self._tasks.coordinates_agent(
            caller, owner
        )


def assert_owner_known(caller: Principal, filters: Filters) -> None:
    """Raise `ValidationFailed` if the filters name private memory, but no owner (RFC-0015 §4.1)."""
    is_private = filters.memory_type is not None and POLICIES[filters.memory_type].is_private
    is_named = filters.agent_id is not None or filters.task_id is not None
    if is_private and not is_named and caller.kind != "agent":
        raise ValidationFailed("agent_id", "is required for working and episodic memory")

"""Define who may read and write an entry, and who sees and sets an agent's memory as a whole.

RFC-0015 §2, §9.1.
"""

from typing import NamedTuple

from functions.authorization.rules import HOLDS_ADMIN, INSPECTS, Action, Rule
from functions.entries.model import Entry
from functions.identity.model import ADMIN, Principal
from functions.namespaces.authority import READ_MEMORY as READ_NAMESPACE_MEMORY
from functions.namespaces.authority import WRITE_MEMORY
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.rules import find_owner
from functions.tasks.authority import READ_MEMORY as READ_TASK_MEMORY
from functions.tasks.authority import TaskTarget


class AgentTarget(NamedTuple):
    """An agent; `is_overseen` says whether the caller coordinates an open task of it."""

    agent: str
    is_overseen: bool = False


class SuccessionTarget(NamedTuple):
    """An entry in a task; `is_former` says whether its owner was the task's assignee before."""

    assignee: str | None
    is_former: bool


class EntryTarget(NamedTuple):
    """An entry, and what decides on the caller's access to it.

    Attributes:
        namespace: where semantic memory is; None for private memory.
        task: the task of working memory; None if it is in none, or the owner's access decides.
        is_overseen: whether the caller coordinates an open task of the agent whose episodic memory
            it is.
    """

    entry: Entry
    namespace: NamespaceTarget | None = None
    task: TaskTarget | None = None
    is_overseen: bool = False


def _owns(caller: Principal, target: EntryTarget) -> bool:
    return target.entry.policy.is_private and target.entry.agent_id == caller.id


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


_OWNS: Rule[EntryTarget] = Rule("owner of the memory", _owns)

READ_ENTRY: Action[EntryTarget] = Action(
    "entry.read",
    (
        _OWNS,
        *map(_by_task, READ_TASK_MEMORY.rules),
        Rule("coordinator of the agent's task", lambda _, target: target.is_overseen),
        *map(_by_namespace, READ_NAMESPACE_MEMORY.rules),
        INSPECTS,
    ),
    "this memory isn't yours to read",
)
WRITE_ENTRY: Action[EntryTarget] = Action(
    "entry.write",
    (_OWNS, *map(_by_namespace, WRITE_MEMORY.rules)),
    "this memory isn't yours to write",
)
"""Change or delete an entry; while it is in a task, the task's own rules hold as well."""

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
    "this memory isn't yours to delete",
)
"""Delete an entry. `memory.admin` deletes what it doesn't read."""

CONFIGURE_AGENT: Action[AgentTarget] = Action(
    "agent.configure",
    (HOLDS_ADMIN,),
    "an agent's settings are set with memory.admin",
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
    "this is for the agent, who coordinates a task of it, and memory.admin",
)
READ_EVICTION_ORDER: Action[AgentTarget] = Action(
    "agent.read_eviction_order",
    (_IS_AGENT, _OVERSEES, INSPECTS),
    "this is for the agent, and who coordinates a task of it",
)
"""See which episodic entries are evicted next: it takes what reading them takes."""
REPLACE_ENTRY: Action[SuccessionTarget] = Action(
    "entry.replace",
    (
        Rule(
            "the task's assignee, after the entry's owner",
            lambda caller, target: target.is_former and caller.id == target.assignee,
        ),
    ),
    "only a task's present assignee replaces entries of its predecessors",
    is_audited=True,
)
"""A successor writes in the place of its predecessor's entry (RFC-0015 §8.2)."""
CHANGE_ENTRY = Action("entry.change", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)
"""Change an entry of semantic memory that another principal made."""
DELETE_ENTRY = Action("entry.delete", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)
"""Delete or replace an entry that another principal made."""

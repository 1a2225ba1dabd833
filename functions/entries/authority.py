"""Who may see and set an agent's memory as a whole (contract §4, §11)."""

from typing import NamedTuple

from functions.authorization.model import Action, Rule
from functions.identity.model import ADMIN
from functions.namespaces.authority import WRITE_MEMORY


class AgentTarget(NamedTuple):
    """An agent; `is_overseen` says whether the caller coordinates an open task of it."""

    agent: str
    is_overseen: bool = False


class SuccessionTarget(NamedTuple):
    """An entry in a task; `is_former` says whether its owner was the task's assignee before."""

    assignee: str | None
    is_former: bool


_ADMIN: Rule[AgentTarget] = Rule(
    "holds memory.admin", lambda caller, _: ADMIN in caller.permissions
)

CONFIGURE_AGENT: Action[AgentTarget] = Action(
    "agent.configure",
    (_ADMIN,),
    "an agent's settings are set with memory.admin",
    is_audited=True,
)
READ_AGENT: Action[AgentTarget] = Action(
    "agent.read",
    (
        Rule("the agent itself", lambda caller, target: caller.id == target.agent),
        _ADMIN,
        Rule("coordinator of the agent's task", lambda _, target: target.is_overseen),
    ),
    "this is for the agent, who coordinates a task of it, and memory.admin",
)
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
"""A successor writes in the place of its predecessor's entry (RFC-0015 §8.2; contract §5)."""
CHANGE_ENTRY = Action("entry.change", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)
"""Change an entry of semantic memory that another principal made."""
DELETE_ENTRY = Action("entry.delete", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)
"""Delete or replace an entry that another principal made."""

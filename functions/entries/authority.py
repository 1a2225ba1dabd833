"""Who may see and set an agent's memory as a whole (contract §4, §11)."""

from dataclasses import dataclass

from functions.authorization.model import Action, Rule
from functions.identity.model import ADMIN


@dataclass(frozen=True, slots=True)
class AgentTarget:
    """An agent; `is_overseen` says whether the caller coordinates an open task of it."""

    agent: str
    is_overseen: bool = False


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

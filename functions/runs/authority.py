"""Who deletes runs and episodes (ADR-043; contract §4, §8). They are open to the whole tenant."""

from functions.authorization.model import Action, Rule
from functions.identity.model import ADMIN, WRITE, Principal


def _may_write(caller: Principal, _: object) -> bool:
    return WRITE in caller.permissions


def _is_admin(caller: Principal, _: object) -> bool:
    return ADMIN in caller.permissions


_RULES = (
    Rule[object]("holds memory.write", _may_write),
    Rule[object]("holds memory.admin", _is_admin),
)

DELETE_RUN = Action(
    "run.delete",
    _RULES,
    denied="runs are deleted with memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has started the run."""
DELETE_EPISODES = Action(
    "episodes.delete",
    _RULES,
    denied="episodes are deleted with memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has appended one of them."""

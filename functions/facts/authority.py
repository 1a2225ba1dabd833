"""Who deletes facts (ADR-043; contract §4, §8). They are open to the whole tenant."""

from functions.authorization.model import Action, Rule
from functions.identity.model import ADMIN, WRITE

DELETE_FACT = Action(
    "fact.delete",
    (
        Rule[object]("holds memory.write", lambda caller, _: WRITE in caller.permissions),
        Rule[object]("holds memory.admin", lambda caller, _: ADMIN in caller.permissions),
    ),
    denied="facts are deleted with memory.write or memory.admin",
    is_audited=True,
)
"""Audited where another principal has learned the fact."""

"""Define who may configure what is learned from conversations."""

from functions.authorization.rules import HOLDS_ADMIN, Action

CHANGE_STRATEGY = Action(
    "strategy.change",
    (HOLDS_ADMIN,),
    denied="strategies are changed with memory.admin",
    is_audited=True,
)
DELETE_STRATEGY = Action(
    "strategy.delete",
    (HOLDS_ADMIN,),
    denied="strategies are deleted with memory.admin",
    is_audited=True,
)

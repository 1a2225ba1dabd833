"""Define who may configure what is learned from conversations."""

from functions.authorization.rules import HOLDS_ADMIN, Action

CHANGE_STRATEGY = Action(
    "strategy.change",
    (HOLDS_ADMIN,),
    denied="changing strategies needs memory.admin",
    is_audited=True,
)
DELETE_STRATEGY = Action(
    "strategy.delete",
    (HOLDS_ADMIN,),
    denied="deleting strategies needs memory.admin",
    is_audited=True,
)

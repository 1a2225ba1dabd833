"""Who reads the audit log (contract §2)."""

from functions.authorization.model import Action, Rule
from functions.identity.model import ADMIN

READ_AUDIT = Action(
    "audit.read",
    (Rule[object]("holds memory.admin", lambda caller, _: ADMIN in caller.permissions),),
    denied="the audit log is read with memory.admin",
)

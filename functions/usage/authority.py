"""Define who sees the usage of tenants, and who sets their limits."""

from functions.authorization.rules import HOLDS_ADMIN, IS_OPERATOR, Action

READ_USAGE = Action(
    "usage.read", (HOLDS_ADMIN, IS_OPERATOR), denied="reading usage needs memory.admin"
)
CHANGE_TENANT = Action(
    "tenant.change",
    (IS_OPERATOR,),
    denied="only the root key may set limits of tenants",
    is_audited=True,
)

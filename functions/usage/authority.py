"""Define who sees what tenants use, and who limits it."""

from functions.authorization.model import Action, Rule
from functions.authorization.rules import HOLDS_ADMIN
from functions.identity.model import ROOT_TENANT

_IS_OPERATOR = Rule[object]("holds the root key", lambda caller, _: caller.tenant == ROOT_TENANT)

READ_USAGE = Action[object](
    "usage.read", (HOLDS_ADMIN, _IS_OPERATOR), denied="usage is read with memory.admin"
)
CHANGE_TENANT = Action[object](
    "tenant.change", (_IS_OPERATOR,), denied="only the root key limits tenants", is_audited=True
)

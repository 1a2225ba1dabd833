"""Define who administers tenants and principals: the actions and their rules."""

from functions.authorization.rules import HOLDS_ADMIN, IS_OPERATOR, Action, Rule
from functions.identity.model import ADMIN, INSPECT, Principal

_DENIED = "managing principals needs memory.admin"


def _may_take_key(caller: Principal, principal: Principal) -> bool:
    gains = principal.permissions & {INSPECT} - caller.permissions
    return ADMIN in caller.permissions and not gains


CREATE_TENANT = Action(
    "tenant.create", (IS_OPERATOR,), "only the root key may create tenants", is_audited=True
)
CREATE_ADMIN = Action(
    "principal.create_admin",
    (IS_OPERATOR,),
    "only the root key may create administrators of a tenant",
    is_audited=True,
)
GRANT_PERMISSIONS = Action(
    "principal.grant", (IS_OPERATOR,), "only the root key may set all permissions", is_audited=True
)
LIST_PRINCIPALS = Action("principal.list", (HOLDS_ADMIN,), _DENIED)
CREATE_PRINCIPAL = Action("principal.create", (HOLDS_ADMIN,), _DENIED, is_audited=True)
CHANGE_PRINCIPAL = Action("principal.change", (HOLDS_ADMIN,), _DENIED, is_audited=True)
ROTATE_KEY = Action(
    "principal.rotate_key",
    (Rule("holds memory.admin, and memory.inspect if the principal does", _may_take_key),),
    f"{_DENIED}, and memory.inspect if the principal has it",
    is_audited=True,
)
REVOKE_PRINCIPAL = Action("principal.revoke", (HOLDS_ADMIN,), _DENIED, is_audited=True)

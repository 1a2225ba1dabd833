"""Who administers tenants and principals: the actions and their rules."""

from functions.authorization.model import Action, Rule
from functions.authorization.rules import HOLDS_ADMIN
from functions.identity.model import ROOT_TENANT

_DENIED = "principals are managed with memory.admin"

CREATE_TENANT = Action[object](
    "tenant.create",
    (Rule("holds the root key", lambda caller, _: caller.tenant == ROOT_TENANT),),
    denied="only the root key makes tenants",
    is_audited=True,
)
CREATE_ADMIN = Action[object](
    "principal.create_admin",
    (Rule("holds the root key", lambda caller, _: caller.tenant == ROOT_TENANT),),
    denied="only the root key creates administrators of a tenant",
    is_audited=True,
)
LIST_PRINCIPALS = Action("principal.list", (HOLDS_ADMIN,), _DENIED)
CREATE_PRINCIPAL = Action("principal.create", (HOLDS_ADMIN,), _DENIED, is_audited=True)
CHANGE_PRINCIPAL = Action("principal.change", (HOLDS_ADMIN,), _DENIED, is_audited=True)
ROTATE_KEY = Action("principal.rotate_key", (HOLDS_ADMIN,), _DENIED, is_audited=True)
REVOKE_PRINCIPAL = Action("principal.revoke", (HOLDS_ADMIN,), _DENIED, is_audited=True)

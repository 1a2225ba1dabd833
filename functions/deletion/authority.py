"""Define who deletes tenants, agents and persons: the actions and their rules."""

from functions.authorization.model import Action, Rule
from functions.authorization.rules import HOLDS_ADMIN
from functions.deletion.model import SubjectKind
from functions.identity.model import ROOT_TENANT

_IS_OPERATOR = Rule[object]("holds the root key", lambda caller, _: caller.tenant == ROOT_TENANT)
_DENIED = "agents and persons are deleted with memory.admin"

DELETE_TENANT = Action[object](
    "tenant.delete", (_IS_OPERATOR,), denied="only the root key deletes tenants", is_audited=True
)
DELETE_AGENT = Action("agent.delete", (HOLDS_ADMIN,), _DENIED, is_audited=True)
DELETE_PERSON = Action("person.delete", (HOLDS_ADMIN,), _DENIED, is_audited=True)
DELETE_ACTIONS: dict[SubjectKind, Action[object]] = {
    "tenant": DELETE_TENANT,
    "agent": DELETE_AGENT,
    "person": DELETE_PERSON,
}

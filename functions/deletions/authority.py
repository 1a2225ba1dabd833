"""Define who deletes tenants, agents and persons: the actions and their rules."""

from functions.authorization.rules import HOLDS_ADMIN, IS_OPERATOR, Action
from functions.deletions.model import SubjectKind

_DENIED = "deleting agents and persons needs memory.admin"

DELETE_TENANT = Action(
    "tenant.delete", (IS_OPERATOR,), denied="only the root key may delete tenants", is_audited=True
)
DELETE_AGENT = Action("agent.delete", (HOLDS_ADMIN,), _DENIED, is_audited=True)
DELETE_PERSON = Action("person.delete", (HOLDS_ADMIN,), _DENIED, is_audited=True)
DELETE_ACTIONS: dict[SubjectKind, Action[object]] = {
    "tenant": DELETE_TENANT,
    "agent": DELETE_AGENT,
    "person": DELETE_PERSON,
}

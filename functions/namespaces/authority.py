"""Define who may do what with a namespace (RFC-0015 §2.3)."""

from functions.authorization.rules import HOLDS_ADMIN, INSPECTS, Action, Rule
from functions.identity.model import ADMIN, WRITE
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.rules import find_owner, has_access

_READS = Rule[NamespaceTarget](
    "read access to the namespace", lambda caller, target: has_access(caller, target, "read")
)
_WRITES = Rule[NamespaceTarget](
    "write access to the namespace", lambda caller, target: has_access(caller, target, "write")
)
_ADMINISTERS = Rule[NamespaceTarget](
    "holds memory.admin, where no agent owns the namespace",
    lambda caller, target: ADMIN in caller.permissions and find_owner(target.name) is None,
)
_MANAGES = Rule[NamespaceTarget](
    "admin access to the namespace",
    lambda caller, target: WRITE in caller.permissions and has_access(caller, target, "admin"),
)

_WRITE_DENIED = (
    "you may not write in this namespace: its permissions, or guardrails of your coordinator, do "
    "not allow it; an administrator can change permissions by"
    " PATCH /api/v1/memory/namespaces/{namespace}, such as users/* for all users of an app"
)
READ_MEMORY = Action(
    "namespace.read", (_READS, INSPECTS), denied="you have no access to this namespace's memory"
)
WRITE_MEMORY = Action("namespace.write", (_WRITES,), denied=_WRITE_DENIED)
CLAIM_NAMESPACE = Action("namespace.claim", (_WRITES,), denied=_WRITE_DENIED, is_audited=True)
"""The first write to a namespace without configuration makes the writer its curator."""
READ_PERMISSIONS = Action(
    "namespace.show", (HOLDS_ADMIN, _READS, INSPECTS), denied="you have no access to this namespace"
)
CHANGE_PERMISSIONS = Action(
    "namespace.change",
    (_ADMINISTERS, _MANAGES),
    denied="this needs memory.admin, or memory.write and admin access to the namespace; only the "
    "agent may configure a namespace below agents/{agent_id}/",
    is_audited=True,
)

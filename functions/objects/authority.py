"""Define who may do what with the objects of a space.

A space named `agents/{agent_id}/{name}` is private: it belongs to that principal, and only this
principal gives others access. Any other space is shared: a coordinator, a user or an administrator
creates it, and only the creator has access until its permissions give others access. Permissions
are those of a namespace: read, write and admin, for all or for listed principals.
"""

from functions.authorization.rules import HOLDS_ADMIN, INSPECTS, Action, Rule
from functions.identity.model import ADMIN, WRITE, Principal
from functions.namespaces.model import Access, NamespaceTarget
from functions.namespaces.rules import find_owner, has_access
from functions.objects.model import SpaceTarget


def _has_access(caller: Principal, target: SpaceTarget, needed: Access) -> bool:
    is_missing = target.space is None and find_owner(target.name) is None
    if is_missing or (needed != "read" and WRITE not in caller.permissions):
        return False
    permissions = None if target.space is None else target.space.permissions
    return has_access(caller, NamespaceTarget(target.name, permissions), needed)


def _may_create(caller: Principal, target: SpaceTarget) -> bool:
    if target.space is not None or WRITE not in caller.permissions:
        return False
    owner = find_owner(target.name)
    may_share = caller.may_coordinate or ADMIN in caller.permissions
    return may_share if owner is None else owner == caller.id


def _build_rule(access: Access) -> Rule[SpaceTarget]:
    return Rule(
        f"{access} access to the space", lambda caller, target: _has_access(caller, target, access)
    )


_READS, _WRITES, _MANAGES = _build_rule("read"), _build_rule("write"), _build_rule("admin")
_LISTS = Rule[SpaceTarget](
    "memory.admin, for a private space",
    lambda caller, target: ADMIN in caller.permissions and find_owner(target.name) is not None,
)
_MAKES = Rule[SpaceTarget]("creates the space, as its owner or as a coordinator", _may_create)
_ADMINISTERS = Rule[SpaceTarget](
    "memory.admin, for a shared space",
    lambda caller, target: ADMIN in caller.permissions and find_owner(target.name) is None,
)

READ_OBJECTS = Action("object.read", (_READS, INSPECTS), denied="you have no access to this space")
LIST_OBJECTS = Action(
    "object.list", (_READS, _LISTS, INSPECTS), denied="you have no access to this space"
)
WRITE_OBJECTS = Action(
    "object.write",
    (_WRITES, _MAKES),
    denied="you may not write in this space; an agent creates private spaces below"
    " /api/v1/agents/{agent_id}/objects/",
    is_audited=True,
)
"""Audited where it replaces what another principal wrote."""
DELETE_OBJECTS = Action(
    "object.delete",
    (_WRITES, HOLDS_ADMIN),
    denied="this needs write access to the space, or memory.admin",
    is_audited=True,
)
"""Audited where it deletes what another principal wrote."""
SHOW_SPACE = Action(
    "object-space.show", (HOLDS_ADMIN, _READS, INSPECTS), denied="you have no access to this space"
)
CHANGE_SPACE = Action(
    "object-space.change",
    (_ADMINISTERS, _MANAGES, _MAKES),
    denied="this needs memory.admin, or memory.write and admin access to the space; only its "
    "owner may share a private space",
    is_audited=True,
)

"""Who may do what with the objects of a space.

A space is its maker's alone until its permissions say otherwise. They are a namespace's: read,
write and admin, for everybody or for those who are listed.
"""

from functions.authorization.model import Action, Rule
from functions.authorization.rules import HOLDS_ADMIN
from functions.identity.model import WRITE, Principal
from functions.namespaces.model import Access, NamespaceTarget
from functions.namespaces.rules import has_access
from functions.objects.model import SpaceTarget


def _has_access(caller: Principal, target: SpaceTarget, needed: Access) -> bool:
    if target.space is None or (needed != "read" and WRITE not in caller.permissions):
        return False
    return has_access(caller, NamespaceTarget(target.name, target.space.permissions), needed)


def _build_rule(access: Access) -> Rule[SpaceTarget]:
    return Rule(
        f"{access} access to the space", lambda caller, target: _has_access(caller, target, access)
    )


_READS, _WRITES, _MANAGES = _build_rule("read"), _build_rule("write"), _build_rule("admin")
_MAKES = Rule[SpaceTarget](
    "makes the space", lambda caller, target: WRITE in caller.permissions and target.space is None
)

READ_OBJECTS = Action("object.read", (_READS,), denied="you have no access to this space")
WRITE_OBJECTS = Action(
    "object.write", (_WRITES, _MAKES), denied="you may not write in this space", is_audited=True
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
    "object-space.show", (HOLDS_ADMIN, _READS), denied="you have no access to this space"
)
CHANGE_SPACE = Action(
    "object-space.change",
    (HOLDS_ADMIN, _MANAGES, _MAKES),
    denied="this needs memory.admin, or memory.write and admin access to the space",
    is_audited=True,
)

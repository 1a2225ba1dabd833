"""The authority over consolidations. Their own steps are recorded by the same actions."""

from functions.authorization.rules import HOLDS_ADMIN, Action

_DENIED = "consolidations need memory.admin"
READ_CONSOLIDATION = Action("consolidation.read", (HOLDS_ADMIN,), denied=_DENIED)
CONSOLIDATE = Action("consolidation.run", (HOLDS_ADMIN,), denied=_DENIED, is_audited=True)
UNDO_CONSOLIDATION = Action("consolidation.undo", (HOLDS_ADMIN,), denied=_DENIED, is_audited=True)
CHANGE_CONSOLIDATION = Action(
    "consolidation.change", (HOLDS_ADMIN,), denied=_DENIED, is_audited=True
)

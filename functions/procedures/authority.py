"""Define who writes workflows of procedures (ADR-043). They are open to the whole tenant."""

from functions.authorization.rules import HOLDS_WRITE, Action

_DENIED = "writing workflows of procedures needs memory.write"

WRITE_WORKFLOW = Action("procedure.write", (HOLDS_WRITE,), _DENIED, is_audited=True)
"""Audited where another principal has written the spec."""
DELETE_WORKFLOW = Action("procedure.delete", (HOLDS_WRITE,), _DENIED, is_audited=True)
"""Audited where another principal has written the spec."""

"""Define who reads the audit log."""

from functions.authorization.rules import HOLDS_ADMIN, INSPECTS, Action

READ_AUDIT = Action("audit.read", (HOLDS_ADMIN,), denied="reading the audit log needs memory.admin")
INSPECT_MEMORY = Action(
    "memory.inspect", (INSPECTS,), denied="this needs memory.inspect", is_audited=True
)
"""Read by the permission memory.inspect alone: one record for each request."""

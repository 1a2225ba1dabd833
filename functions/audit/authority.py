"""Who reads the audit log."""

from functions.authorization.model import Action
from functions.authorization.rules import HOLDS_ADMIN

READ_AUDIT = Action("audit.read", (HOLDS_ADMIN,), denied="the audit log is read with memory.admin")

"""The authority to delete all memory about a user."""

from functions.authorization.rules import Action
from functions.namespaces.authority import WRITE_MEMORY

FORGET_USER = Action("user.forget", WRITE_MEMORY.rules, WRITE_MEMORY.denied, is_audited=True)

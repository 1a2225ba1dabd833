"""Define who may do what with runs and memories.

A principal of the tenant may use a memory or a run if it has the reference or the id, and the
permission: neither can be guessed or forged. Both are checked before the rules here.
"""

from functions.authorization.rules import HOLDS_ADMIN, HOLDS_WRITE, Action, Rule
from functions.openwop.model import MemoryRun

_STARTER = Rule[MemoryRun]("started the run", lambda caller, run: caller.id == run.started_by)
_WRITER = Rule[MemoryRun]("holds the run's id and memory.write", HOLDS_WRITE.holds)

CHANGE_RUN: Action[MemoryRun] = Action(
    "openwop-run.change",
    (_STARTER, _WRITER),
    "only the principal that started the run, or one with memory.write, may change it",
    is_audited=True,
)
"""End a run, or give it a secret."""

DELETE_ENTRY = Action(
    "openwop-entry.delete",
    (HOLDS_WRITE,),
    "deleting entries of a memory needs memory.write",
    is_audited=True,
)
"""Delete an entry; audited where another principal has put it."""

DELETE_RUN: Action[MemoryRun] = Action(
    "openwop-run.delete",
    (_STARTER, HOLDS_ADMIN),
    "only the principal that started the run, or one with memory.admin, may delete it",
    is_audited=True,
)
"""Delete a run with its snapshot."""

"""Who may do what with runs and memories (contract §4, §7).

Whoever in the tenant holds a memory's reference, or a run's id, and the permission, may use it:
neither can be guessed or forged. Both are checked before anything is decided here.
"""

from functions.authorization.model import Action, Rule
from functions.identity.model import ADMIN, WRITE, Principal
from functions.openwop.model import MemoryRun


def _is_starter(caller: Principal, run: MemoryRun) -> bool:
    return caller.id == run.principal


def _holds_write(caller: Principal, _run: MemoryRun) -> bool:
    return WRITE in caller.permissions


def _holds_admin(caller: Principal, _run: MemoryRun) -> bool:
    return ADMIN in caller.permissions


_STARTER = Rule("started the run", _is_starter)
_WRITER = Rule("holds the run's id and memory.write", _holds_write)
_ADMIN = Rule("holds memory.admin", _holds_admin)

CHANGE_RUN: Action[MemoryRun] = Action(
    "openwop-run.change",
    (_STARTER, _WRITER),
    "only who started the run, or holds memory.write, may change it",
    is_audited=True,
)
"""End a run, or give it a secret."""

DELETE_RUN: Action[MemoryRun] = Action(
    "openwop-run.delete",
    (_STARTER, _ADMIN),
    "only who started the run, or holds memory.admin, may delete it",
    is_audited=True,
)
"""Delete a run with its snapshot."""

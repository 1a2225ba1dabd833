"""Decide whether a principal may do something; the one place where that is decided."""

from functions.authorization.model import Action, Decision, Rule, Target_contra
from functions.identity.model import ADMIN, INSPECT, ROOT_TENANT, WRITE, Principal
from functions.platform import request_context
from functions.platform.errors import AccessDenied

HOLDS_ADMIN = Rule[object](f"holds {ADMIN}", lambda caller, _: ADMIN in caller.permissions)
"""Permits what `memory.admin` does to any target."""
HOLDS_WRITE = Rule[object](f"holds {WRITE}", lambda caller, _: WRITE in caller.permissions)
"""Permits what is open to the whole tenant."""
IS_OPERATOR = Rule[object]("holds the root key", lambda caller, _: caller.tenant == ROOT_TENANT)
"""Permits what the root key alone does."""
INSPECTS = Rule[object](f"holds {INSPECT}", lambda caller, _: INSPECT in caller.permissions)
"""Permits to read any target. It is the last rule of an action: each use is audited."""


def decide(caller: Principal, action: Action[Target_contra], target: Target_contra) -> Decision:
    """Decide whether the caller may do this to the target, and by which rule."""
    for rule in action.rules:
        if rule.holds(caller, target):
            if rule.name == INSPECTS.name:
                request_context.note_inspection()
            return Decision(True, rule.name)
    return Decision(False, None)


def inspects(caller: Principal) -> bool:
    """Tell whether the caller reads all of its tenant, which is audited."""
    if INSPECT in caller.permissions:
        request_context.note_inspection()
    return INSPECT in caller.permissions


def is_allowed(caller: Principal, action: Action[Target_contra], target: Target_contra) -> bool:
    """Tell whether the caller may do this to the target."""
    return decide(caller, action, target).allowed


def authorize(caller: Principal, action: Action[Target_contra], target: Target_contra) -> None:
    """Check that the caller may do this to the target."""
    if not decide(caller, action, target).allowed:
        raise AccessDenied(action.denied)

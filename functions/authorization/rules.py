"""Decide whether a principal may do something; the one place where that is decided."""

from functions.authorization.model import Action, Decision, Target
from functions.identity.model import Principal
from functions.platform.errors import AccessDenied


def decide(caller: Principal, action: Action[Target], target: Target) -> Decision:
    """Decide whether the caller may do this to the target, and by which rule."""
    for rule in action.rules:
        if rule.holds(caller, target):
            return Decision(True, rule.name)
    return Decision(False, None)


def is_allowed(caller: Principal, action: Action[Target], target: Target) -> bool:
    """Whether the caller may do this to the target."""
    return decide(caller, action, target).is_allowed


def authorize(caller: Principal, action: Action[Target], target: Target) -> None:
    """Check that the caller may do this to the target.

    Raises:
        AccessDenied: no rule of the action permits it; the message is the action's.
    """
    if not is_allowed(caller, action, target):
        raise AccessDenied(action.denied)

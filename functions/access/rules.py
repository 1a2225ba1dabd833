"""Decide by several actions that must all be permitted, and say why not; pure."""

from typing import Any, NamedTuple

from functions.authorization.rules import Action, Decision, decide
from functions.identity.model import INSPECT, READ, Permission, Principal

NO_RULE = "no rule permits it"


class Check(NamedTuple):
    """An action that must be permitted on its target."""

    action: Action[Any]
    target: Any


class Checks(NamedTuple):
    """All that must be permitted.

    Attributes:
        barrier: what prevents everybody, whatever the rules say; None if nothing does.
    """

    every: tuple[Check, ...]
    barrier: str | None = None


def decide_all(principal: Principal, permission: Permission, checks: Checks, now: int) -> Decision:
    """Decide whether a principal may do something; the first action's rule is the reason.

    Args:
        permission: what the principal must hold besides.
        now: the time in epoch ms.
    """
    if principal.expires_at is not None and principal.expires_at <= now:
        return Decision(False, "the principal has expired")
    inspects = permission == READ and INSPECT in principal.permissions
    if permission not in principal.permissions and not inspects:
        return Decision(False, f"lacks {permission}")
    if checks.barrier is not None:
        return Decision(False, checks.barrier)
    decisions = [decide(principal, each.action, each.target) for each in checks.every]
    if all(each.allowed for each in decisions):
        return decisions[0]
    return Decision(False, NO_RULE)

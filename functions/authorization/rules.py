"""Decide whether a principal may do something: the only place of such decisions.

Each domain package names its actions. An action lists the rules that permit it; the first rule that
holds is the reason of the decision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from functions.identity.model import ADMIN, INSPECT, ROOT_TENANT, WRITE, Principal
from functions.platform import request_context
from functions.platform.errors import AccessDenied

Target_contra = TypeVar("Target_contra", contravariant=True)


@dataclass(frozen=True)
class Rule(Generic[Target_contra]):
    """Permits an action when its condition holds.

    Attributes:
        name: the reason, as the access endpoint shows it: "coordinator of the task".
        holds: whether the caller may do it to the target; pure.
    """

    name: str
    holds: Callable[[Principal, Target_contra], bool]


@dataclass(frozen=True)
class Action(Generic[Target_contra]):
    """Something that a principal may do to a target.

    Attributes:
        name: its name in audit records, `subject.verb`: "task.change".
        rules: any one of them is enough.
        denied: the message of the error when none holds.
        is_audited: whether each use has an audit record: uses of authority have one, uses of a
            caller's own memory don't.
    """

    name: str
    rules: tuple[Rule[Target_contra], ...]
    denied: str
    is_audited: bool = False


class Decision(NamedTuple):
    """A decision on an action, with the name of the rule that permits it."""

    allowed: bool
    rule: str | None


HOLDS_ADMIN = Rule[object](f"holds {ADMIN}", lambda caller, _: ADMIN in caller.permissions)
"""Permits a caller with `memory.admin` to act on any target."""
HOLDS_WRITE = Rule[object](f"holds {WRITE}", lambda caller, _: WRITE in caller.permissions)
"""Permits every caller of the tenant."""
IS_OPERATOR = Rule[object]("holds the root key", lambda caller, _: caller.tenant == ROOT_TENANT)
"""Permits the root key alone."""
INSPECTS = Rule[object](f"holds {INSPECT}", lambda caller, _: INSPECT in caller.permissions)
"""Permits reading any target. It is an action's last rule, since each use is audited."""


def decide(caller: Principal, action: Action[Target_contra], target: Target_contra) -> Decision:
    """Decide whether the caller may do the action, and by which rule."""
    for rule in action.rules:
        if rule.holds(caller, target):
            if rule.name == INSPECTS.name:
                request_context.note_inspection()
            return Decision(True, rule.name)
    return Decision(False, None)


def inspects(caller: Principal) -> bool:
    """Tell whether the caller reads by `memory.inspect`, which is audited."""
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

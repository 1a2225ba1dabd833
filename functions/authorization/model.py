"""Actions and decisions.

Each domain package names its actions in its `authority.py`. An action lists the rules that permit
it; the first rule that holds is the reason of the decision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from functions.identity.model import Principal

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
        is_audited: whether each use leaves an audit record: what is done with authority, and not
            what a caller does with its own memory.
    """

    name: str
    rules: tuple[Rule[Target_contra], ...]
    denied: str
    is_audited: bool = False


class Decision(NamedTuple):
    """Tells whether an action is permitted, and the name of the rule that permits it."""

    allowed: bool
    rule: str | None

"""Define who may ask about whose access."""

from typing import NamedTuple

from functions.authorization.rules import HOLDS_ADMIN, Action, Rule


class AccessQuestion(NamedTuple):
    """A question about a principal's access to a target.

    Attributes:
        is_owner: whether the target is the caller's, or the caller decides on access to it.
        is_coordinator: whether the caller coordinates the task that the target belongs to.
    """

    principal: str
    is_owner: bool = False
    is_coordinator: bool = False


EXPLAIN_ACCESS: Action[AccessQuestion] = Action(
    "access.explain",
    (
        Rule("oneself", lambda caller, question: caller.id == question.principal),
        Rule("owner of the target", lambda _, question: question.is_owner),
        Rule("coordinator of the target", lambda _, question: question.is_coordinator),
        HOLDS_ADMIN,
    ),
    denied="only the target's owner or coordinator, or memory.admin, may ask about others' access",
)

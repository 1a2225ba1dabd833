"""Define who may do what with workflows."""

from functions.authorization.rules import Action, Rule
from functions.identity.model import ADMIN

APPLY_WORKFLOW = Action[str](
    "workflow.apply",
    (
        Rule(
            "coordinator or user with memory.admin",
            lambda caller, _: caller.may_coordinate and ADMIN in caller.permissions,
        ),
    ),
    denied="only a coordinator or user with memory.admin may apply a workflow",
    is_audited=True,
)
"""The target is the workflow's name."""

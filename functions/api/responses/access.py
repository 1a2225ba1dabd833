"""Explanations of access, as the API shows them."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from functions.access.service import AccessExplanation
from functions.authorization.rules import Decision


class AccessDecisionDocument(TypedDict):
    """Tells whether something is permitted."""

    allowed: bool
    rule: str
    """The rule that permits it, or what prevents it: `no rule permits it`, a permission that
    is missing, a guardrail, the end of a task."""


class AccessDocument(TypedDict):
    """Tells whether a principal may read and write a target."""

    principal: str
    target: Annotated[str, Field(pattern="^(entry|namespace|task|conversation):")]
    """`kind:id`, as in the audit log."""
    read: AccessDecisionDocument
    write: AccessDecisionDocument


def render_access(found: AccessExplanation) -> AccessDocument:
    return {
        "principal": found.principal,
        "target": f"{found.target.kind}:{found.target.id}",
        "read": _render_decision(found.read),
        "write": _render_decision(found.write),
    }


def _render_decision(decision: Decision) -> AccessDecisionDocument:
    return {"allowed": decision.allowed, "rule": decision.rule or ""}

"""Explanations of access, with the rules that decide."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from functions.access.service import AccessTarget, TargetKind
from functions.api.http import Request, Response, json_response
from functions.api.parameters import TextParameter
from functions.api.routing import ANY, RouteTable
from functions.authorization.rules import Decision
from functions.identity.model import Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_ID_CHARACTERS


class AccessDecisionDocument(TypedDict):
    """A decision on access."""

    allowed: bool
    rule: str
    """The rule that permits the access, or the reason against it: `no rule permits it`, a missing
    permission, a guardrail, the end of a task."""


class AccessExplanationDocument(TypedDict):
    """The access of a principal to a target."""

    principal: str
    target: Annotated[str, Field(pattern="^(entry|namespace|task|conversation):")]
    """`kind:id`, as in the audit log."""
    read: AccessDecisionDocument
    write: AccessDecisionDocument


def _render_decision(decision: Decision) -> AccessDecisionDocument:
    return {"allowed": decision.allowed, "rule": decision.rule or ""}


ROUTES = RouteTable()

_PRINCIPAL = TextParameter("principal", "The principal; by default, the caller.", MAX_ID_CHARACTERS)

_TARGETS: dict[TargetKind, TextParameter] = {
    "entry": TextParameter("entry", "The id of an entry."),
    "namespace": TextParameter("namespace", "The name of a namespace."),
    "task": TextParameter("task", "The id of a task, for its working memory."),
    "conversation": TextParameter("conversation", "The session id of a conversation."),
}


@ROUTES.add(
    "GET /api/v1/access",
    ANY,
    {200: AccessExplanationDocument},
    query=(_PRINCIPAL, *_TARGETS.values()),
    error_statuses=(404,),
)
def explain_access(request: Request, caller: Principal) -> Response:
    """Explain whether a principal may read and write a target, and by which rule.

    You can ask about your own access. The target's owner, its coordinator, and `memory.admin` can
    ask about every principal. Name exactly one target. Permissions and guardrails are checked, too.
    """
    principal, target = _PRINCIPAL.read(request) or caller.id, _read_target(request)
    read, write = request.services.access_explanations.explain(caller, principal, target)
    document: AccessExplanationDocument = {
        "principal": principal,
        "target": f"{target.kind}:{target.id}",
        "read": _render_decision(read),
        "write": _render_decision(write),
    }
    return json_response(200, document)


def _read_target(request: Request) -> AccessTarget:
    read = {kind: parameter.read(request) for kind, parameter in _TARGETS.items()}
    named = [AccessTarget(kind, id) for kind, id in read.items() if id is not None]
    if len(named) != 1:
        raise ValidationFailed("entry", f"name exactly one of {', '.join(_TARGETS)}")
    return named[0]

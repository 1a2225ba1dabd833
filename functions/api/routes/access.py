"""Explanations of access, with the rules that decide."""

from functions.access.service import AccessTarget, TargetKind
from functions.api.http import Request, Response, json_response
from functions.api.parameters import TextParameter
from functions.api.responses.access import AccessDocument, render_access
from functions.api.routing import ANY, RouteTable
from functions.identity.model import Principal
from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_ID_CHARACTERS

ROUTES = RouteTable()
_PRINCIPAL = TextParameter("principal", "The principal; by default, the caller.", MAX_ID_CHARACTERS)
_TARGETS: dict[TargetKind, TextParameter] = {
    "entry": TextParameter("entry", "The id of an entry."),
    "namespace": TextParameter("namespace", "The name of a namespace."),
    "task": TextParameter("task", "The id of a task, whose working memory it is."),
    "conversation": TextParameter("conversation", "The session id of a conversation."),
}


@ROUTES.add(
    "GET /api/v1/access",
    ANY,
    {200: AccessDocument},
    query=(_PRINCIPAL, *_TARGETS.values()),
    error_statuses=(404,),
)
def explain_access(request: Request, caller: Principal) -> Response:
    """Explain who may read and write something, and by which rule.

    For oneself; for the target's owner, its coordinator and `memory.admin` about every
    principal. Name exactly one target. Permissions and guardrails count as well.
    """
    principal, target = _PRINCIPAL.read(request) or caller.id, _read_target(request)
    explained = request.services.access_explanations.explain(caller, principal, target)
    return json_response(200, render_access(explained))


def _read_target(request: Request) -> AccessTarget:
    read = {kind: parameter.read(request) for kind, parameter in _TARGETS.items()}
    named = [AccessTarget(kind, id) for kind, id in read.items() if id is not None]
    if len(named) != 1:
        raise ValidationFailed("entry", f"name exactly one of {', '.join(_TARGETS)}")
    return named[0]

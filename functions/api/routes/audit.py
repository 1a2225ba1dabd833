"""The audit log (contract §2)."""

from functions.api.http import Request, Response, json_response
from functions.api.parameters import LIMIT, TextParameter
from functions.api.responses.audit import AuditPageDocument, render_audit_record
from functions.api.routing import Route
from functions.audit.model import AuditQuery
from functions.identity.model import ADMIN, Principal
from functions.platform.keys import AUDIT_POSITION_PATTERN, FIRST_AUDIT_POSITION
from functions.platform.limits import MAX_ID_CHARACTERS

_AFTER = TextParameter(
    "after",
    "The `next` of an earlier answer; the log's beginning unless given.",
    pattern=AUDIT_POSITION_PATTERN,
    expected="takes the `next` of an earlier answer",
)
_ACTOR = TextParameter("actor", "Records of this principal.", MAX_ID_CHARACTERS)
_ACTION = TextParameter("action", "Records of this action.", MAX_ID_CHARACTERS)


def read_audit_log(request: Request, caller: Principal) -> Response:
    query = AuditQuery(
        _AFTER.read(request) or FIRST_AUDIT_POSITION,
        LIMIT.read(request),
        _ACTOR.read(request),
        _ACTION.read(request),
    )
    records, position = request.services.audit_log.read(caller, query)
    return json_response(
        200, AuditPageDocument(records=list(map(render_audit_record, records)), next=position)
    )


ROUTES = [
    Route(
        "GET",
        "/api/v1/audit",
        read_audit_log,
        ADMIN,
        "Read who did what with authority",
        {200: AuditPageDocument},
        query=(_ACTOR, _ACTION, _AFTER, LIMIT),
        description="Oldest first, and never a value of memory. With `actor` or `action` a page "
        "may have fewer records than there are; `next` goes on.",
    ),
]

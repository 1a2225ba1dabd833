"""The audit log."""

from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import JsonObject, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.parameters import FROM, LIMIT, ORDER, TO, TextParameter, read_period
from functions.api.routes.events import ActorDocument, render_actor
from functions.api.routing import RouteTable
from functions.audit.model import AuditQuery, AuditRecord
from functions.identity.model import ADMIN, Principal
from functions.platform.json_text import dumps
from functions.platform.keys import AUDIT_POSITION_PATTERN
from functions.platform.limits import MAX_ID_CHARACTERS


class AuditRecordDocument(TypedDict):
    """One use of authority."""

    id: Annotated[str, Field(pattern="^aud_")]
    time: Timestamp
    actor: ActorDocument
    action: str
    """The action: `principal.create`."""
    target: str
    """The target of the action: `principal:ada`."""
    before: NotRequired[JsonObject]
    """The changed fields before the action."""
    after: NotRequired[JsonObject]
    """The changed fields after the action."""
    request_id: str | None
    """The id of the request, which its response and the function's log have, too."""


class AuditPageDocument(TypedDict):
    """A page of the audit log."""

    records: list[AuditRecordDocument]
    next: NotRequired[str]
    """The position to continue from, now or later; absent at the end with `order=desc`."""


def render_audit_record(record: AuditRecord) -> AuditRecordDocument:
    changes = {"before": record.before, "after": record.after}
    shown = {
        name: orjson.Fragment(dumps(each)) for name, each in changes.items() if each is not None
    }
    return to_document(record, AuditRecordDocument, actor=render_actor(record.actor), **shown)


ROUTES = RouteTable()

_AFTER = TextParameter(
    "after",
    "The `next` of an earlier response; by default, the list starts at its beginning.",
    pattern=AUDIT_POSITION_PATTERN,
    expected="must be the `next` of an earlier response",
)

_ACTOR = TextParameter("actor", "Only records of this principal.", MAX_ID_CHARACTERS)

_ACTION = TextParameter("action", "Only records of this action.", MAX_ID_CHARACTERS)


@ROUTES.add(
    "GET /api/v1/audit",
    ADMIN,
    {200: AuditPageDocument},
    query=(_ACTOR, _ACTION, FROM, TO, ORDER, _AFTER, LIMIT),
)
def read_audit_log(request: Request, caller: Principal) -> Response:
    """List the uses of authority.

    Oldest first, unless `order` is `desc`. With `actor` or `action`, a page may have fewer records
    than match; `next` continues.
    """
    since, until = read_period(request)
    query = AuditQuery(
        _AFTER.read(request),
        LIMIT.read(request),
        _ACTOR.read(request),
        _ACTION.read(request),
        newest_first=ORDER.read(request) == "desc",
        since=since,
        until=until,
    )
    records, position = request.services.audit_log.read(caller, query)
    page = AuditPageDocument(records=list(map(render_audit_record, records)))
    if position is not None:
        page["next"] = position
    return json_response(200, page)

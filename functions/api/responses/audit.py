"""Audit records, as the API shows them."""

from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.event_logs import ActorDocument, render_actor
from functions.api.responses.types import JsonObject, Timestamp
from functions.audit.model import AuditRecord
from functions.platform.clock import to_rfc3339
from functions.platform.json_text import dumps


class AuditRecordDocument(TypedDict):
    """One use of authority."""

    id: Annotated[str, Field(pattern="^aud_")]
    time: Timestamp
    actor: ActorDocument
    action: str
    """What was done: `principal.create`."""
    target: str
    """What it was done to: `principal:ada`."""
    before: NotRequired[JsonObject]
    """What was changed, as it was."""
    after: NotRequired[JsonObject]
    """What was changed, as it is from then on."""
    request_id: str | None
    """The id of the request, which is in its answer and in the function's log."""


class AuditPageDocument(TypedDict):
    """A page of the audit log."""

    records: list[AuditRecordDocument]
    next: NotRequired[str]
    """Where to continue, now or once more has happened; absent at the end where the newest come
    first."""


def render_audit_record(record: AuditRecord) -> AuditRecordDocument:
    document: AuditRecordDocument = {
        "id": record.id,
        "time": to_rfc3339(record.time),
        "actor": render_actor(record.actor),
        "action": record.action,
        "target": record.target,
        "request_id": record.request_id,
    }
    if record.before is not None:
        document["before"] = orjson.Fragment(dumps(record.before))
    if record.after is not None:
        document["after"] = orjson.Fragment(dumps(record.after))
    return document

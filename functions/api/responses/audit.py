"""Audit records, as the API shows them."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.event_logs import ActorDocument, render_actor
from functions.api.responses.types import Timestamp
from functions.audit.model import AuditRecord
from functions.platform.clock import to_rfc3339


class AuditRecordDocument(TypedDict):
    """One use of authority."""

    id: Annotated[str, Field(pattern="^aud_")]
    time: Timestamp
    actor: ActorDocument
    action: str
    """What was done: `principal.create`."""
    target: str
    """What it was done to: `principal:ada`."""
    before: NotRequired[dict[str, Any]]
    """What was changed, as it was."""
    after: NotRequired[dict[str, Any]]
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
        document["before"] = record.before
    if record.after is not None:
        document["after"] = record.after
    return document

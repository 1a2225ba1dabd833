"""Audit records, as the API shows them."""

from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.event_logs import ActorDocument, render_actor
from functions.api.responses.rendering import to_document
from functions.api.responses.types import JsonObject, Timestamp
from functions.audit.model import AuditRecord
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
    changes = {"before": record.before, "after": record.after}
    shown = {
        name: orjson.Fragment(dumps(each)) for name, each in changes.items() if each is not None
    }
    return to_document(record, AuditRecordDocument, actor=render_actor(record.actor), **shown)

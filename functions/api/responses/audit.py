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
    """The action: `principal.create`."""
    target: str
    """The target of the action: `principal:ada`."""
    before: NotRequired[JsonObject]
    """The changed fields before the action."""
    after: NotRequired[JsonObject]
    """The changed fields after the action."""
    request_id: str | None
    """The id of the request, which is in its answer and in the function's log."""


class AuditPageDocument(TypedDict):
    """A page of the audit log."""

    records: list[AuditRecordDocument]
    next: NotRequired[str]
    """The position to continue from, now or later; absent at the end if the newest come first."""


def render_audit_record(record: AuditRecord) -> AuditRecordDocument:
    changes = {"before": record.before, "after": record.after}
    shown = {
        name: orjson.Fragment(dumps(each)) for name, each in changes.items() if each is not None
    }
    return to_document(record, AuditRecordDocument, actor=render_actor(record.actor), **shown)

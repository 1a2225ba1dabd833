"""Deletions, as the API shows them."""

from typing import Literal

from typing_extensions import TypedDict

from functions.api.responses.event_logs import ActorDocument, render_actor
from functions.api.responses.types import Timestamp
from functions.deletion.model import Deletion, SubjectKind
from functions.platform.clock import to_optional_rfc3339, to_rfc3339


class DeletionDocument(TypedDict):
    """A deletion, and how far it is."""

    kind: SubjectKind
    id: str
    """The tenant, the agent or the person."""
    dry_run: bool
    status: Literal["running", "done"]
    requested_at: Timestamp
    requested_by: ActorDocument
    finished_at: Timestamp | None
    """When everything was gone, whatever functions wrote late included."""
    counts: dict[str, int]
    """How many items of each type were deleted or redacted so far, and files."""


def render_deletion(deletion: Deletion) -> DeletionDocument:
    return {
        "kind": deletion.subject.kind,
        "id": deletion.subject.id,
        "dry_run": deletion.is_preview,
        "status": "done" if deletion.is_done else "running",
        "requested_at": to_rfc3339(deletion.requested),
        "requested_by": render_actor(deletion.actor),
        "finished_at": to_optional_rfc3339(deletion.finished),
        "counts": dict(sorted(deletion.counts.items())),
    }

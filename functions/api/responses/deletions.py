"""Deletions, as the API shows them."""

from typing import Literal

from typing_extensions import TypedDict

from functions.api.responses.event_logs import ActorDocument, render_actor
from functions.api.responses.rendering import to_document
from functions.api.responses.types import Timestamp
from functions.deletion.model import Deletion, SubjectKind


class DeletionDocument(TypedDict):
    """A deletion and its progress."""

    kind: SubjectKind
    id: str
    """The tenant, the agent or the person."""
    dry_run: bool
    status: Literal["running", "done"]
    requested_at: Timestamp
    requested_by: ActorDocument
    finished_at: Timestamp | None
    """The time when everything was deleted, late writes of functions included."""
    counts: dict[str, int]
    """The number of items of each type, and of files, that were deleted or redacted so far."""


def render_deletion(deletion: Deletion) -> DeletionDocument:
    return to_document(
        deletion,
        DeletionDocument,
        requested_by=render_actor(deletion.requested_by),
        counts=dict(sorted(deletion.counts.items())),
    )

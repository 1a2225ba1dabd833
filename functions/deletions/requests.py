"""Bodies of requests about deletions."""

from typing import Literal

from functions.platform.validation import AgentId, RequestModel


class NewDeletion(RequestModel):
    """Body of `POST /api/v1/deletions`."""

    kind: Literal["agent", "person"]
    """A person's facts are deleted as well: those whose subject has this id."""
    id: AgentId
    """The id of a principal, of the user of conversations, or of the owner of states."""
    dry_run: bool = False
    """True counts what would be deleted, and deletes nothing."""

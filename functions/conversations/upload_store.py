"""Uploads: messages that are stored piece by piece before a conversation shows them.

An upload is a conversation that no reader sees, whose header is the marker of pending messages:
what isn't shown in time is deleted as all pending messages are. Its generation is the upload's id.
"""

from collections.abc import Sequence

from functions.conversations.mapper import decode_header, header_key, marker_key
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation
from functions.platform import item_types
from functions.platform.errors import NotFound, ValidationFailed
from functions.platform.items import to_attributes
from functions.platform.keys import build_due_attributes
from functions.platform.limits import STAGED_LIFETIME
from functions.platform.staging import IS_OPEN
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, check, delete, put_new, update

_WHOLE = f"{IS_OPEN} AND #end = :count AND message_count = :count"


class UploadStore:
    """Reads and writes uploads of all tenants."""

    def __init__(self, table: Table, messages: MessageStore) -> None:
        self._table = table
        self._messages = messages

    def get(self, tenant: str, session: str, id: str) -> Conversation | None:
        """Read an upload: one read; None if there is none, or it was shown or given up."""
        key = item_types.ORPHANED_MESSAGES.build_key(tenant, session=session, generation=id)
        item = self._table.get(key)
        if item is None or "created_by" not in item or "closing" in item:
            return None
        return decode_header(tenant, item)

    def begin(self, upload: Conversation) -> bool:
        """Begin an upload; whether there was none of its id, nor a conversation that shows it."""
        key = marker_key(upload)
        item = to_attributes(upload, "tenant", "metadata")
        item |= build_due_attributes(key[0], upload.expires_at)
        not_shown = "attribute_not_exists(pk) OR generation <> :id"
        writes = [put_new(key, item), check(header_key(upload), not_shown, id=upload.generation)]
        return self._table.try_write(*writes)

    def write(self, upload: Conversation, texts: Sequence[bytes], first: int, now: int) -> None:
        """Write messages from an index on; the latest ones may be written again.

        The first try of a request may end after the second, and after what followed that: it
        changes nothing then.
        """
        key, end = marker_key(upload), first + len(texts)
        # `end` counts what is being written, `message_count` what is complete. Part 50 to 99:
        # before it, both are 50; while it is written, 100 and 50; then both are 100. A retry finds
        # #end = :end (100), the next part finds both equal to its :first.
        follows = f"{IS_OPEN} AND (#end = :end OR #end = :first AND message_count = :first)"
        begun = "SET #end = :end, due = :due, expires_at = :due"
        try:
            due = now + STAGED_LIFETIME
            self._table.update(update(key, begun, follows, first=first, end=end, due=due))
        except ConditionFailed as failed:
            self._assert_open(upload)
            raise ValidationFailed(
                "offset",
                f"must be {upload.message_count}, the number of messages that the upload has",
            ) from failed
        self._messages.write_pending(upload, texts, first)
        latest = f"{IS_OPEN} AND #end = :end"
        if not self._table.try_write(update(key, "SET message_count = :end", latest, end=end)):
            self._assert_open(upload)

    def _assert_open(self, upload: Conversation) -> None:
        if self.get(upload.tenant, upload.session_id, upload.generation) is None:
            raise NotFound("this upload has expired; begin another one")


def show_upload(shown: Conversation) -> Write:
    """Build the write that ends an upload, in the transaction that shows its messages."""
    return delete(marker_key(shown), _WHOLE, count=shown.end)

"""Uploads: messages that are stored piece by piece before a conversation shows them.

An upload is a generation of messages with the marker of pending ones: what isn't shown in time is
deleted as all pending messages are.
"""

from collections.abc import Sequence

from functions.conversations.mapper import header_key, marker_key
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation, ConversationUpload
from functions.platform import conversation_keys, item_types
from functions.platform.errors import NotFound, ValidationFailed
from functions.platform.items import from_attributes
from functions.platform.keys import build_due_attributes
from functions.platform.schema import DUE_ATTRIBUTE
from functions.platform.staging import IS_OPEN, STAGED_FOR
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, check, delete, put_new, update

_WHOLE = f"{IS_OPEN} AND messages = :count AND written = :count"


class UploadStore:
    """Reads and writes uploads of all tenants."""

    def __init__(self, table: Table, messages: MessageStore) -> None:
        self._table = table
        self._messages = messages

    def get(self, tenant: str, session: str, id: str) -> ConversationUpload | None:
        """Read an upload: one read; None if there is none, or it was shown or given up."""
        partition, _ = conversation_keys.build_conversation_key(tenant, session)
        item = self._table.get(item_types.ORPHANED_MESSAGES.build_key_in(partition, generation=id))
        if item is None or "writer" not in item or "closing" in item:
            return None
        named = {"upload_id": id, "tenant": tenant, "session_id": session}
        computed = {"message_count": item["written"], "expires_at": item[DUE_ATTRIBUTE]}
        return from_attributes(ConversationUpload, item, **named, **computed)

    def begin(self, upload: ConversationUpload) -> bool:
        """Begin an upload; whether there was none of its id, nor a conversation that shows it."""
        pending = _to_pending(upload)
        key = marker_key(pending)
        item = {
            "messages": 0,
            "written": 0,
            "writer": upload.writer,
            "sensitivity": upload.sensitivity,
            "schema": upload.schema,
        } | build_due_attributes(key[0], upload.expires_at)
        not_shown = "attribute_not_exists(pk) OR generation <> :id"
        writes = [put_new(key, item), check(header_key(pending), not_shown, id=upload.upload_id)]
        return self._table.try_write(*writes)

    def write(
        self, upload: ConversationUpload, texts: Sequence[bytes], first: int, now: int
    ) -> None:
        """Write messages from an index on; the latest ones may be written again.

        The first try of a request may end after the second, and after what followed that: it
        changes nothing then.
        """
        key, end = marker_key(_to_pending(upload)), first + len(texts)
        due = now + STAGED_FOR
        # `messages` counts what is being written, `written` what is complete. Part 50 to 99: before
        # it, both are 50; while it is written, 100 and 50; then both are 100. A retry finds
        # messages = :end (100), the next part finds both equal to its :first.
        follows = f"{IS_OPEN} AND (messages = :end OR messages = :first AND written = :first)"
        try:
            self._table.update(
                update(
                    key, "SET messages = :end, due = :due", follows, first=first, end=end, due=due
                )
            )
        except ConditionFailed as failed:
            self._assert_open(upload)
            raise ValidationFailed(
                "offset", f"is {upload.message_count}: that is how many messages the upload has"
            ) from failed
        self._messages.write_pending(_to_pending(upload), texts, first, upload.writer)
        try:
            latest = f"{IS_OPEN} AND messages = :end"
            self._table.update(update(key, "SET written = :end", latest, end=end))
        except ConditionFailed:
            self._assert_open(upload)

    def _assert_open(self, upload: ConversationUpload) -> None:
        if self.get(upload.tenant, upload.session_id, upload.upload_id) is None:
            raise NotFound("this upload was given up; begin another one")


def show_upload(shown: Conversation) -> Write:
    """Build the write that ends an upload, in the transaction that shows its messages."""
    return delete(marker_key(shown), _WHOLE, count=shown.end)


def _to_pending(upload: ConversationUpload) -> Conversation:
    return Conversation(
        tenant=upload.tenant,
        session_id=upload.session_id,
        user_id="",
        created_by="",
        metadata=b"{}",
        generation=upload.upload_id,
        message_count=0,
        end=0,
        revision=0,
        created_at=0,
        updated_at=0,
        sensitivity=upload.sensitivity,
    )

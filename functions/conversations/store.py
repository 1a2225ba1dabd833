"""Reads and writes of conversations as a whole; their messages are in `message_store`.

The header of an upload is the marker of pending messages. Messages that no conversation shows in
time are deleted, as all pending messages are. Its generation is the upload's id.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from functions.conversations.mapper import (
    DETAILS,
    ConversationMapper,
    decode_header,
    encode_header,
    encode_listing,
    header_key,
    listing_key,
    marker_key,
)
from functions.conversations.model import Conversation
from functions.platform import item_types, staging
from functions.platform.bounded_pages import WantedPage
from functions.platform.errors import CapacityExceeded
from functions.platform.items import Item, to_attributes
from functions.platform.keys import Key, build_due_attributes
from functions.platform.limits import MAX_LISTED_CONVERSATIONS, MAX_PAGE_ITEMS, STAGED_LIFETIME
from functions.platform.newest_first import iterate_groups, list_items
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, check, delete, put, put_new, update

AT_REVISION = "revision = :revision AND generation = :generation"
"""The condition of a write; `at_revision` gives its values."""


class ConversationChanged(Exception):
    """The stored conversation is no longer as it was read."""


class StoredConversation(NamedTuple):
    """A conversation without its metadata, and the item of its metadata, as of one time."""

    head: Conversation
    details: Item


class ConversationStore:
    """Reads and writes conversations of all tenants."""

    def __init__(self, table: Table, mapper: ConversationMapper, staging: staging.Staging) -> None:
        self._table = table
        self._mapper = mapper
        self._staging = staging

    # Reads

    def get_header(self, tenant: str, session: str) -> Conversation | None:
        """Read a conversation without its metadata: one read."""
        key = item_types.CONVERSATION.build_key(tenant, session=session)
        return self._table.find(key, partial(decode_header, tenant))

    @retry_on(staging.PartsMissing, "others keep changing the conversation")
    def get(self, tenant: str, session: str) -> Conversation | None:
        """Read a conversation with its metadata: one call, and one if these are large."""
        found = self.get_many(tenant, [session]).get(session)
        return None if found is None else self._decode(found)

    def load(self, stored: StoredConversation) -> Conversation:
        """Decode a conversation with its metadata; read it again if these were changed since.

        One call if they are large.
        """
        try:
            return self._decode(stored)
        except staging.PartsMissing:
            return self.get(stored.head.tenant, stored.head.session_id) or stored.head

    def _decode(self, stored: StoredConversation) -> Conversation:
        return self._mapper.decode(stored.head, self._staging.join(stored.details))

    def get_many(self, tenant: str, sessions: Sequence[str]) -> dict[str, StoredConversation]:
        """Read the conversations that exist among these, each as of one time: a call per 50."""
        found: dict[str, StoredConversation] = {}
        wanted = list(sessions)
        backoff = Backoff("others keep replacing the conversation")
        while True:
            keys = [item_types.CONVERSATION.build_key(tenant, session=each) for each in wanted]
            details = [item_types.CONVERSATION_DETAILS.build_key_in(key[0]) for key in keys]
            items = self._table.get_many([*keys, *details])
            torn = []
            for session, key, detail in zip(wanted, keys, details, strict=True):
                if _is_torn(items.get(key), items.get(detail)):
                    torn.append(session)
                elif key in items:
                    head = decode_header(tenant, items[key])
                    found[session] = StoredConversation(head, items[detail])
            if not torn:
                return found
            wanted = torn
            backoff.wait()

    def get_headers(self, tenant: str, sessions: Sequence[str]) -> dict[str, Conversation]:
        """Read the headers of the conversations that exist among these: a call per 100."""
        build_key = item_types.CONVERSATION.build_key
        keys = {session: build_key(tenant, session=session) for session in sessions}
        items = self._table.get_many(keys.values())
        return {
            session: decode_header(tenant, items[key])
            for session, key in keys.items()
            if key in items
        }

    def list_rows(self, tenant: str, user: str, wanted: WantedPage) -> Iterator[Item]:
        """List the rows of a user's list, the last updated first; their sort keys are positions."""
        partition, prefix = item_types.USER_CONVERSATION.build_range(tenant, user=user)

        def read(before: str | None, size: int) -> list[Item]:
            last = f"{prefix}~" if before is None else before
            rows = self._table.query(partition, prefix, last, size + 1, newest_first=True)
            return list(islice((row for row in rows if row["sk"] != before), size))

        return chain.from_iterable(iterate_groups(read, "sk", wanted, MAX_PAGE_ITEMS))

    def list_headers(self, tenant: str, wanted: WantedPage) -> Iterator[Item]:
        """List the headers of a tenant's conversations, the last created first, by an index."""
        return list_items(self._table, item_types.CONVERSATION, wanted, tenant)

    # Writes

    def replace(
        self, old: Conversation | None, new: Conversation, messages: Sequence[Write], now: int
    ) -> None:
        """Create or replace a conversation, in one write.

        Args:
            messages: writes of its messages, or of the marker of messages that are already stored.
            now: epoch ms; an import says that it was earlier.
        """
        writes = [*self._put_details(new, now), *messages]
        if old is None:
            writes.append(put_new(header_key(new), encode_header(new)))
            writes.append(put(listing_key(new), encode_listing(new)))
        else:
            writes += [*change_writes(old, new), staging.hide(marker_key(old), now)]
        transact(self._table, [*writes, *_count_writes(old, new)])

    def change(self, old: Conversation, new: Conversation) -> None:
        """Write a conversation's changed fields; its messages stay."""
        writes = change_writes(old, new)
        if new.details_at != old.details_at:
            present = self._table.get(
                item_types.CONVERSATION_DETAILS.build_key_in(header_key(new)[0])
            )
            writes += self._put_details(new, new.updated_at)
            writes += staging.hide_parts(present, new.updated_at)
        transact(self._table, writes)

    def _put_details(self, new: Conversation, now: int) -> list[Write]:
        """Build the writes of new details, and stage their parts."""
        key = item_types.CONVERSATION_DETAILS.build_key_in(header_key(new)[0])
        value = self._mapper.encode_value(new, new.metadata, DETAILS)
        details, shown = self._staging.stage_value(key[0], new.generation, value, now)
        at = {"generation": new.generation, "at": new.details_at}
        return [put(key, details | at), *shown]

    def delete(self, old: Conversation, now: int, *further: Write) -> None:
        """Hide a conversation and mark its messages to be deleted."""
        transact(self._table, [*delete_writes(old, now), *further])

    # Uploads

    def get_upload(self, tenant: str, session: str, id: str) -> Conversation | None:
        """Read an upload: one read; None if there is none, or it was shown or has expired."""
        key = item_types.ORPHANED_MESSAGES.build_key(tenant, session=session, generation=id)
        item = self._table.get(key)
        if item is None or "created_by" not in item or "closing" in item:
            return None
        return decode_header(tenant, item)

    def begin_upload(self, upload: Conversation) -> bool:
        """Begin an upload; return False if its id exists, or a conversation shows it."""
        key = marker_key(upload)
        item = to_attributes(upload, "tenant", "metadata")
        item |= build_due_attributes(key[0], upload.expires_at)
        not_shown = "attribute_not_exists(pk) OR generation <> :id"
        writes = [put_new(key, item), check(header_key(upload), not_shown, id=upload.generation)]
        return self._table.try_write(*writes)

    def begin_part(self, upload: Conversation, first: int, end: int, now: int) -> bool:
        """Record the range that is going to be written; the latest range may be written again.

        Returns whether the range follows the messages of the upload. `end` counts what is being
        written, `message_count` what is complete. Part 50 to 99: before it, both are 50; while it
        is written, 100 and 50; then both are 100. A retry finds #end = :end (100), the next part
        finds both equal to its :first.
        """
        follows = f"{staging.IS_OPEN} AND (#end = :end OR #end = :first AND message_count = :first)"
        begun, due = "SET #end = :end, due = :due, expires_at = :due", now + STAGED_LIFETIME
        return self._table.try_write(
            update(marker_key(upload), begun, follows, first=first, end=end, due=due)
        )

    def end_part(self, upload: Conversation, end: int) -> bool:
        """Record that a range is written; False if a later one is, after a late first try."""
        latest = f"{staging.IS_OPEN} AND #end = :end"
        return self._table.try_write(
            update(marker_key(upload), "SET message_count = :end", latest, end=end)
        )


def show_upload(shown: Conversation) -> Write:
    """Build the write that ends an upload, in the transaction that shows its messages."""
    whole = f"{staging.IS_OPEN} AND #end = :count AND message_count = :count"
    return delete(marker_key(shown), whole, count=shown.end)


def transact(table: Table, writes: Sequence[Write]) -> None:
    """Carry out writes of one conversation."""
    try:
        table.transact(writes)
    except ConditionFailed as refused:
        _assert_room(refused.failed)
        raise ConversationChanged from refused


def at_revision(conversation: Conversation) -> Item:
    """Build the values of `AT_REVISION`."""
    return {"revision": conversation.revision, "generation": conversation.generation}


def change_writes(old: Conversation, new: Conversation) -> list[Write]:
    """Build the writes of a changed header and of its row, which moves with each update.

    They fail if the stored header differs from `old`.
    """
    condition, values = AT_REVISION, at_revision(old)
    if old.removed:
        condition += " AND removed = :removed"
        values["removed"] = [list(each) for each in old.removed]
    writes = [
        put(header_key(new), encode_header(new), condition, **values),
        put(listing_key(new), encode_listing(new)),
    ]
    if listing_key(old) != listing_key(new):
        writes.append(delete(listing_key(old)))
    return writes


def delete_writes(old: Conversation, now: int) -> list[Write]:
    """Build the writes that hide a conversation and mark its messages to be deleted."""
    key = header_key(old)
    return [
        delete(key, AT_REVISION, **at_revision(old)),
        delete(item_types.CONVERSATION_DETAILS.build_key_in(key[0])),
        delete(listing_key(old)),
        staging.hide(marker_key(old), now),
        *_count_writes(old, None),
    ]


def _count_writes(old: Conversation | None, new: Conversation | None) -> list[Write]:
    before, after = _count_key(old), _count_key(new)
    if before == after:
        return []
    writes = []
    if after is not None:
        room = "attribute_not_exists(listed) OR listed < :most"
        counted = {"one": 1, "most": MAX_LISTED_CONVERSATIONS}
        writes.append(update(after, "ADD listed :one", room, **counted))
    if before is not None:
        writes.append(update(before, "ADD listed :less", less=-1))
    return writes


def _count_key(conversation: Conversation | None) -> Key | None:
    if conversation is None or conversation.lister is None:
        return None
    return item_types.LISTED_COUNT.build_key(
        conversation.tenant, user=conversation.user_id, principal=conversation.lister
    )


def _assert_room(failed: dict[Key, Item | None]) -> None:
    for (_, sort), item in failed.items():
        if item is not None and item_types.LISTED_COUNT.has_sort(sort):
            raise CapacityExceeded(
                "conversations_in_a_users_list",
                item["listed"],
                MAX_LISTED_CONVERSATIONS,
                "delete some of your conversations for this user",
            )


def _is_torn(header: Item | None, details: Item | None) -> bool:
    if header is None or details is None:
        return header is not details
    at = (header["generation"], header["details_at"])
    return at != (details["generation"], details["at"])

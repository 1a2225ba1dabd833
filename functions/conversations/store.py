"""Reads and writes of conversations and their messages."""

from collections.abc import Iterator, Sequence

from functions.conversations.mapper import (
    ConversationMapper,
    encode_header,
    encode_listing,
    header_key,
    listing_key,
)
from functions.conversations.model import Conversation, Message
from functions.conversations.orphan_store import (
    clear_pending,
    mark_deleted,
    mark_pending,
    write_many,
)
from functions.platform import item_types
from functions.platform.conversation_keys import (
    build_append_request_key,
    build_conversation_key,
    build_details_key,
    build_message_key,
    build_user_partition,
)
from functions.platform.errors import BatchTooLarge, NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_TRANSACTION_BYTES
from functions.platform.retry import Backoff
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.writes import Write, delete, put, update

_PAGE = 250  # messages a call, so that a page's end wastes little
_IN_TRANSACTION = 80  # messages at most that are part of the write that shows them
_ABSENT, _PRESENT = "attribute_not_exists(pk)", "attribute_exists(pk)"
AT_REVISION = "version = :revision AND generation = :generation"


class ConversationChanged(Exception):
    """The stored conversation is no longer as it was read."""


class ConversationStore:
    """Reads and writes conversations of all tenants."""

    def __init__(self, table: Table, mapper: ConversationMapper) -> None:
        self._table = table
        self._mapper = mapper

    # Reads

    def get_header(self, tenant: str, session: str) -> Conversation | None:
        """Read a conversation without metadata and tags: one read."""
        item = self._table.get(build_conversation_key(tenant, session))
        return None if item is None else self._mapper.decode(tenant, item)

    def get(self, tenant: str, session: str) -> Conversation | None:
        """Read a conversation with its metadata and tags: one call."""
        return self.get_many(tenant, [session]).get(session)

    def get_many(self, tenant: str, sessions: Sequence[str]) -> dict[str, Conversation]:
        """Read the conversations that exist among these, each as of one time."""
        found: dict[str, Conversation] = {}
        wanted = list(sessions)
        backoff = Backoff("the conversation is being replaced again and again")
        while True:
            keys = [build_conversation_key(tenant, session) for session in wanted]
            details = [build_details_key(partition) for partition, _ in keys]
            items = self._table.get_many([*keys, *details])
            torn = []
            for session, key, detail in zip(wanted, keys, details, strict=True):
                if _is_torn(items.get(key), items.get(detail)):
                    torn.append(session)
                elif key in items:
                    found[session] = self._mapper.decode(tenant, items[key], items[detail])
            if not torn:
                return found
            wanted = torn
            backoff.wait()

    def list_sessions(self, tenant: str, user: str, reader: str) -> Iterator[Item]:
        """Read the rows of a user's list that a reader may see, newest first."""
        rows = self._table.query(
            build_user_partition(tenant, user),
            item_types.USER_CONVERSATION.sort_prefix,
            newest_first=True,
        )
        return (row for row in rows if reader in row["readers"])

    def read_messages(self, conversation: Conversation, first: int, last: int) -> Iterator[Message]:
        """Read the messages from one index to another, both included.

        Raises:
            ConversationChanged: one was removed meanwhile.
        """
        partition, start = _message_key(conversation, first)
        _, end = _message_key(conversation, last)
        page_size = min(_PAGE, last - first + 1)
        expected = first
        for item in self._table.query_from(partition, start, end, page_size):
            message = self._mapper.decode_message(conversation, item)
            if message.index != expected:
                raise ConversationChanged
            yield message
            if message.index == last:
                return
            expected += 1
        raise ConversationChanged

    # Writes at the end of a conversation

    def append(
        self,
        before: Conversation,
        after: Conversation,
        messages: Sequence[Message],
        token: RequestToken | None,
    ) -> tuple[Conversation, Sequence[Message]]:
        """Append messages: one transaction, whatever the length of the conversation.

        Returns the conversation and the messages: those of an earlier try, if the request was
        carried out before.

        Raises:
            ConversationChanged: another request was faster.
            BatchTooLarge: the messages are too large for one transaction.
            NotFound: the messages of an earlier try were popped since.
            IdempotencyConflict: the token's key came with another body.
        """
        puts = [self._put_message(before, message, token) for message in messages]
        size = sum(write.size for write in puts)
        if size > MAX_TRANSACTION_BYTES:
            raise BatchTooLarge(
                "append fewer messages at once", max=MAX_TRANSACTION_BYTES, actual=size
            )
        writes = [_set_count(before, after), *puts]
        if token is not None:
            marker = {"index": before.count, "messages": len(messages), "request": token.stored}
            writes.append(put(_request_key(before, token), marker, _ABSENT))
        try:
            self._table.transact(writes)
        except TransactionConditionFailed as refused:
            earlier = None if token is None else refused.failed.get(_request_key(before, token))
            if token is None or earlier is None or not token.matches(earlier["request"]):
                raise ConversationChanged from refused
            return before, self._read_appended(before, earlier)
        return after, messages

    def _read_appended(self, conversation: Conversation, marker: Item) -> list[Message]:
        indexes = range(marker["index"], marker["index"] + marker["messages"])
        keys = [_message_key(conversation, index) for index in indexes]
        found = self._table.get_many(keys)
        items = [found[key] for key in keys if key in found]
        messages = [
            self._mapper.decode_message(conversation, item)
            for item in items
            if item.get("request") == marker["request"]
        ]
        if len(messages) < len(keys):
            raise NotFound("the messages of this request were taken off the conversation since")
        return messages

    def get_popped(self, conversation: Conversation, token: RequestToken) -> Message | None:
        """Read the message that an earlier try of a request popped: one read.

        Raises:
            IdempotencyConflict: the token's key came with another request.
        """
        marker = self._table.get(_request_key(conversation, token))
        if marker is None or not token.matches(marker["request"]):
            return None
        return self._mapper.decode_message(conversation, marker, marker["index"])

    def pop(self, before: Conversation, after: Conversation, token: RequestToken | None) -> Message:
        """Remove and return the last message: one read, one transaction.

        Raises:
            ConversationChanged: another request was faster.
        """
        key = _message_key(before, after.count)
        item = self._table.get(key)
        if item is None:
            raise ConversationChanged
        writes = [_set_count(before, after), delete(key, _PRESENT)]
        if token is not None:
            value = {
                name: item[name]
                for name in ("val", "data_key", "encrypted_version")
                if name in item
            }
            marker = value | {"index": after.count, "request": token.stored}
            writes.append(put(_request_key(before, token), marker, _ABSENT))
        try:
            self._table.transact(writes)
        except TransactionConditionFailed as refused:
            raise ConversationChanged from refused
        return self._mapper.decode_message(before, item)

    # Writes of a whole conversation

    def replace(
        self, old: Conversation | None, new: Conversation, messages: Sequence[Message]
    ) -> None:
        """Show the new messages and hide the old ones in one write, whatever their number.

        Raises:
            ConversationChanged: the stored conversation is not `old`.
        """
        details = put(build_details_key(header_key(new)[0]), self._mapper.encode_details(new))
        writes = [details, put(listing_key(new), encode_listing(new))]
        if old is None:
            writes.append(put(header_key(new), encode_header(new), _ABSENT))
        else:
            at = at_revision(old)
            writes.append(put(header_key(new), encode_header(new), AT_REVISION, **at))
            writes.append(mark_deleted(old, new.updated))
            if listing_key(old) != listing_key(new):
                writes.append(delete(listing_key(old)))
        puts = [self._put_message(new, message) for message in messages]
        size = sum(write.size for write in puts)
        if len(puts) > _IN_TRANSACTION or size > MAX_TRANSACTION_BYTES // 2:
            self._table.transact([mark_pending(new, new.updated)])
            write_many(self._table, puts)
            puts = [clear_pending(new)]
        self._transact([*writes, *puts])

    def delete(self, old: Conversation, now: int) -> None:
        """Hide a conversation and mark its messages to be removed.

        Raises:
            ConversationChanged: the stored conversation is not `old`.
        """
        self._transact(delete_writes(old, now))

    def _transact(self, writes: Sequence[Write]) -> None:
        try:
            self._table.transact(writes)
        except TransactionConditionFailed as refused:
            raise ConversationChanged from refused

    def _put_message(
        self, conversation: Conversation, message: Message, token: RequestToken | None = None
    ) -> Write:
        item = self._mapper.encode_message(conversation, message)
        request = None if token is None else token.stored
        key = _message_key(conversation, message.index)
        return put(key, item | {"request": request}, _ABSENT)


def at_revision(conversation: Conversation) -> dict[str, int | str]:
    """Build the values of the condition `AT_REVISION`."""
    return {"revision": conversation.revision, "generation": conversation.generation}


def delete_writes(old: Conversation, now: int) -> list[Write]:
    """Build the writes that hide a conversation and mark its messages to be removed."""
    key = header_key(old)
    return [
        delete(key, AT_REVISION, **at_revision(old)),
        delete(build_details_key(key[0])),
        delete(listing_key(old)),
        mark_deleted(old, now),
    ]


def _set_count(before: Conversation, after: Conversation) -> Write:
    return update(
        header_key(before),
        "SET messages = :after, updated = :now, version = :version",
        "messages = :before AND generation = :generation",
        before=before.count,
        generation=before.generation,
        after=after.count,
        now=after.updated,
        version=after.revision,
    )


def _message_key(conversation: Conversation, index: int) -> Key:
    return build_message_key(header_key(conversation)[0], conversation.generation, index)


def _request_key(conversation: Conversation, token: RequestToken) -> Key:
    return build_append_request_key(header_key(conversation)[0], conversation.generation, token.key)


def _is_torn(header: Item | None, details: Item | None) -> bool:
    """Whether header and details were read from two states of a conversation."""
    if header is None or details is None:
        return header is not details
    return bool(header["generation"] != details["generation"])

"""The conversations room's reads and writes of the table."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from functions.conversations.items import ConversationItems, place_of
from functions.conversations.model import Conversation, Message
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.conversation_keys import (
    build_append_request_key,
    build_conversation_key,
    build_details_key,
    build_message_key,
    build_user_partition,
)
from functions.platform.items import Item
from functions.platform.parallel import side_by_side
from functions.platform.retry import Backoff
from functions.platform.table import Table
from functions.platform.writes import Write

_AT_ONCE = 250  # messages a call, so that a page's end wastes little
_SIDE_BY_SIDE = 8
_CHUNK = 25


class Replaced(Exception):
    """The messages that were being read are no longer the conversation's."""


class ConversationStore:
    """Reads conversations and messages; writes what the room's services put together."""

    def __init__(self, table: Table, items: ConversationItems) -> None:
        self._table = table
        self._items = items

    def header(self, tenant: str, session: str) -> Conversation | None:
        """A conversation without metadata and tags: one read."""
        item = self._table.get(build_conversation_key(tenant, session))
        return None if item is None else self._items.conversation(tenant, item, None)

    def get(self, tenant: str, session: str) -> Conversation | None:
        """A conversation with its metadata and tags: one call."""
        return self.get_many(tenant, [session]).get(session)

    def get_many(self, tenant: str, sessions: Sequence[str]) -> dict[str, Conversation]:
        """The conversations that exist among these, as they stood at one moment each."""
        found: dict[str, Conversation] = {}
        wanted = list(sessions)
        backoff = Backoff("the conversation is being replaced again and again")
        while True:
            places = [build_conversation_key(tenant, session) for session in wanted]
            details = [build_details_key(partition) for partition, _ in places]
            items = self._table.get_many([*places, *details])
            torn = []
            for session, place, detail in zip(wanted, places, details, strict=True):
                if _torn(items.get(place), items.get(detail)):
                    torn.append(session)
                elif place in items:
                    item = items[place]
                    found[session] = self._items.conversation(tenant, item, items[detail])
            if not torn:
                return found
            wanted = torn
            backoff.wait()

    def messages(self, conversation: Conversation, first: int, last: int) -> Iterator[Message]:
        """The messages from one index to another, both included.

        Raises:
            Replaced: one isn't there any more.
        """
        partition, _ = place_of(conversation)
        _, start = build_message_key(partition, conversation.generation, first)
        _, end = build_message_key(partition, conversation.generation, last)
        at_once = min(_AT_ONCE, last - first + 1)
        expected = first
        for item in self._table.query_from(partition, start, end, at_once):
            message = self._items.message_of(conversation, item)
            if message.index != expected:
                raise Replaced
            yield message
            if message.index == last:
                return
            expected += 1
        raise Replaced

    def item(self, conversation: Conversation, index: int) -> Item | None:
        """The item of one message: one read."""
        partition, _ = place_of(conversation)
        return self._table.get(build_message_key(partition, conversation.generation, index))

    def request(self, conversation: Conversation, request: bytes) -> Item | None:
        """What is known of a request with an Idempotency-Key: one read."""
        partition, _ = place_of(conversation)
        return self._table.get(
            build_append_request_key(partition, conversation.generation, request)
        )

    def rows(self, caller: Principal, user: str) -> Iterator[Item]:
        """The rows of a user's list that the caller may see, newest first."""
        rows = self._table.query(
            build_user_partition(caller.tenant, user),
            item_types.USER_CONVERSATION.sort_prefix,
            newest_first=True,
        )
        return (row for row in rows if caller.id in row["readers"])

    def commit(self, writes: Sequence[Write]) -> None:
        """Carries out all writes or none.

        Raises:
            functions.platform.table.Refused: a condition did not hold.
        """
        self._table.transact(writes)

    def write_many(self, writes: Iterable[Write]) -> None:
        """Carries out writes without conditions, several calls side by side."""
        for group in grouped(writes, _CHUNK * _SIDE_BY_SIDE):
            chunks = grouped(group, _CHUNK)
            side_by_side([partial(self._table.write_many, chunk) for chunk in chunks])


def grouped(writes: Iterable[Write], size: int) -> Iterator[list[Write]]:
    """The writes in groups of a size, the last one as long as it is."""
    group: list[Write] = []
    for write in writes:
        group.append(write)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _torn(item: Item | None, details: Item | None) -> bool:
    """Whether header and details were read from two states of a conversation."""
    if item is None or details is None:
        return item is not details
    return bool(item["generation"] != details["generation"])

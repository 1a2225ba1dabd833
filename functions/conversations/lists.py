"""Lists of conversations: a user's, and those that a caller may read (Agent Memory Protocol §3)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from functions.authorization.rules import is_allowed
from functions.conversations.authority import READ_CONVERSATION
from functions.conversations.mapper import decode_header
from functions.conversations.model import Conversation
from functions.conversations.store import ConversationStore, StoredConversation
from functions.identity.model import Principal
from functions.platform.bounded_pages import (
    BoundedPage,
    Examined,
    examine_all,
    select_shown,
    take_page,
)
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.limits import MAX_EXAMINED, MAX_PAGE_ITEMS
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.platform.value_parts import PartsMissing


class ListedConversation(NamedTuple):
    """A conversation of a list.

    Attributes:
        position: where it is in the list.
        load: reads its metadata, where they are asked for and large.
    """

    position: str
    load: Callable[[], Conversation]


class ConversationLists:
    """The lists of the conversations of a caller's tenant.

    What the caller may not read, or lacks one of the tags, is left out.
    """

    def __init__(self, store: ConversationStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def list_readable(
        self,
        caller: Principal,
        tags: frozenset[str],
        *,
        after: str | None,
        offset: int,
        limit: int,
        with_metadata: bool,
    ) -> BoundedPage[ListedConversation]:
        """List at most `limit` conversations of all users, the last created first.

        Args:
            after: the position after which the list begins; None for its begin.
            offset: how many to pass over.
            with_metadata: whether they are read with their metadata.
        """
        examined = self._examine_headers(caller, tags, after, offset + limit + 1)
        page, end = take_page(examined, offset, limit)
        places = [(item[TYPE_ORDER_ATTRIBUTE], item["session"]) for item in page]
        return BoundedPage(self._load(caller, places, with_metadata=with_metadata), end)

    def count_readable(self, caller: Principal, tags: frozenset[str]) -> int:
        """Count the conversations that the caller may read: it costs the tenant's whole list."""
        examined = self._examine_headers(caller, tags, None, MAX_PAGE_ITEMS)
        return sum(1 for _ in select_shown(examined))

    def has_any(self, caller: Principal) -> bool:
        """Whether the tenant has a conversation, whoever may read it."""
        headers = islice(self._store.iterate_headers(caller.tenant, None, 1), MAX_EXAMINED)
        now = self._clock()
        return any(not decode_header(caller.tenant, each).has_expired(now) for each in headers)

    def list_for_user(
        self,
        caller: Principal,
        user: str,
        tags: frozenset[str],
        *,
        after: str | None,
        offset: int,
        limit: int,
        with_metadata: bool,
    ) -> BoundedPage[ListedConversation]:
        """List at most `limit` of a user's conversations, the last updated first.

        Args:
            after: the position after which the list begins; None for its begin.
            offset: how many to pass over.
            with_metadata: whether they are read with their metadata.
        """
        rows = self._store.list_rows(caller.tenant, user, after, offset + limit + 1)
        page, end = take_page(self._examine_rows(caller, rows, tags), offset, limit)
        places = [(row["sk"], row["session"]) for row in page]
        return BoundedPage(self._load(caller, places, with_metadata=with_metadata), end)

    def count_for_user(self, caller: Principal, user: str, tags: frozenset[str]) -> int:
        """Count the conversations of a user that the caller may read: it costs the whole list."""
        examined = self._examine_rows(caller, self._store.list_rows(caller.tenant, user), tags)
        return sum(1 for _ in select_shown(examined))

    def has_unreadable(self, caller: Principal, user: str) -> bool:
        """Whether, of a user's last 2,000 conversations, the caller may not read one."""
        now = self._clock()
        rows = islice(self._store.list_rows(caller.tenant, user), MAX_EXAMINED)
        return any(
            caller.id not in row["readers"] and row.get("expires", now + 1) > now for row in rows
        )

    def _examine_headers(
        self, caller: Principal, tags: frozenset[str], after: str | None, count: int
    ) -> Iterator[Examined[Item]]:
        now = self._clock()

        def is_shown(item: Item) -> bool:
            head = decode_header(caller.tenant, item)
            may_read = is_allowed(caller, READ_CONVERSATION, head)
            return may_read and not head.has_expired(now) and tags <= frozenset(head.tags)

        headers = self._store.iterate_headers(caller.tenant, after, count)
        return examine_all(headers, itemgetter(TYPE_ORDER_ATTRIBUTE), is_shown)

    def _examine_rows(
        self, caller: Principal, rows: Iterator[Item], tags: frozenset[str]
    ) -> Iterator[Examined[Item]]:
        now = self._clock()
        return examine_all(
            rows,
            itemgetter("sk"),
            lambda row: (
                caller.id in row["readers"]
                and row.get("expires", now + 1) > now
                and tags <= frozenset(row.get("tags", ()))
            ),
        )

    def _load(
        self, caller: Principal, places: Sequence[tuple[str, str]], *, with_metadata: bool
    ) -> list[ListedConversation]:
        """Read the conversations of a page, given by positions and sessions."""
        read = self._store.get_many if with_metadata else self._store.get_headers
        found = read(caller.tenant, [session for _, session in places])
        return [
            ListedConversation(position, _load_later(self._store, found[session]))
            for position, session in places
            if session in found
        ]


def _load_later(store: ConversationStore, stored: StoredConversation) -> Callable[[], Conversation]:
    def load() -> Conversation:
        try:
            return store.decode(stored)
        except PartsMissing:
            return store.get(stored.tenant, stored.head.session) or stored.head

    return load

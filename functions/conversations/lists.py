"""Lists of conversations: a user's, and those that a caller may read (Agent Memory Protocol §3)."""

from functools import partial
from operator import itemgetter

from functions.authorization.rules import inspects, is_allowed
from functions.conversations.archive_store import ConversationArchiveStore
from functions.conversations.authority import READ_CONVERSATION
from functions.conversations.mapper import decode_header
from functions.conversations.model import Conversation, ListedConversation
from functions.conversations.store import ConversationStore
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import get_tenant
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE

_get_order = itemgetter(TYPE_ORDER_ATTRIBUTE)


class ConversationLists:
    """The lists of the conversations of a caller's tenant.

    Conversations that the caller may not read, or that lack one of the tags, are left out.
    """

    def __init__(
        self, store: ConversationStore, archives: ConversationArchiveStore, clock: Clock
    ) -> None:
        self._store = store
        self._archives = archives
        self._clock = clock

    def list_readable(
        self, caller: Principal, tags: frozenset[str], wanted: WantedPage, *, with_metadata: bool
    ) -> BoundedPage[ListedConversation]:
        """List conversations of all users, the last created first; with their metadata, if asked.

        To count them costs the tenant's whole list.
        """
        now = self._clock()

        def is_shown(item: Item) -> bool:
            head = decode_header(caller.tenant, item)
            may_read = is_allowed(caller, READ_CONVERSATION, head)
            return may_read and not head.has_expired(now) and tags <= frozenset(head.tags)

        headers = self._store.list_headers(caller.tenant, wanted)
        page = read_page(wanted, headers, is_shown, _get_order)
        return self._load(caller, page, TYPE_ORDER_ATTRIBUTE, with_metadata=with_metadata)

    def list_archived(
        self, caller: Principal, tags: frozenset[str], wanted: WantedPage
    ) -> BoundedPage[ListedConversation]:
        """List archived conversations of all users without metadata, the last expired first.

        To count them costs the tenant's whole list.
        """

        def is_shown(record: Item) -> bool:
            head = decode_header(caller.tenant, record)
            may_read = is_allowed(caller, READ_CONVERSATION, head)
            is_own = get_tenant(record["pk"]) == caller.tenant  # an index may have been forged
            return may_read and is_own and tags <= frozenset(head.tags)

        records = self._archives.list_all(caller.tenant, wanted)
        page = read_page(wanted, records, is_shown, _get_order)
        listed = [
            _list_head(_get_order(each), decode_header(caller.tenant, each))
            for each in page.elements
        ]
        return BoundedPage(listed, page.end, page.total)

    def list_for_user(
        self,
        caller: Principal,
        user: str,
        tags: frozenset[str],
        wanted: WantedPage,
        *,
        with_metadata: bool,
    ) -> BoundedPage[ListedConversation]:
        """List a user's conversations, the last updated first; with their metadata, if asked.

        To count them costs the user's whole list.
        """
        now = self._clock()

        def is_shown(row: Item) -> bool:
            may_read = caller.id in row["readers"] or inspects(caller)
            has_expired = row.get("expires_at", now + 1) <= now
            return may_read and not has_expired and tags <= frozenset(row.get("tags", ()))

        rows = self._store.list_rows(caller.tenant, user, wanted)
        page = read_page(wanted, rows, is_shown, itemgetter("sk"))
        return self._load(caller, page, "sk", with_metadata=with_metadata)

    def can_read_all(self, caller: Principal, user: str) -> bool:
        """Tell whether the caller may read all conversations of any user."""
        return caller.id == user or inspects(caller)

    def _load(
        self, caller: Principal, page: BoundedPage[Item], position: str, *, with_metadata: bool
    ) -> BoundedPage[ListedConversation]:
        """Read the conversations of a page; an attribute of each item is its position."""
        rows = [(item[position], item["session_id"]) for item in page.elements]
        sessions = [session for _, session in rows]
        if with_metadata:
            stored = self._store.get_many(caller.tenant, sessions)
            listed = [
                ListedConversation(at, found.head, partial(self._store.load, found))
                for at, session in rows
                if (found := stored.get(session)) is not None
            ]
        else:
            heads = self._store.get_headers(caller.tenant, sessions)
            listed = [_list_head(at, heads[session]) for at, session in rows if session in heads]
        return BoundedPage(listed, page.end, page.total)


def _list_head(position: str, head: Conversation) -> ListedConversation:
    return ListedConversation(position, head, lambda: head)

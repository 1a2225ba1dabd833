"""Taking the last message off a conversation: for agents that take back what they said."""

from dataclasses import replace

from functions.conversations import rules
from functions.conversations.items import ConversationItems, moved, place_of
from functions.conversations.model import Conversation, Message
from functions.conversations.store import ConversationStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.conversation_keys import build_append_request_key, build_message_key
from functions.platform.errors import NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.retry import Backoff
from functions.platform.table import Refused
from functions.platform.writes import Write, delete, put

_ATTEMPTS = 30


class Pops:
    """Removes the last message, exactly one for each request."""

    def __init__(self, store: ConversationStore, items: ConversationItems, clock: Clock) -> None:
        self._store = store
        self._items = items
        self._clock = clock

    def pop(
        self, caller: Principal, session: str, token: RequestToken | None
    ) -> tuple[Conversation, Message | None]:
        """The conversation without its last message, and that message; None if it is empty.

        Raises:
            NotFound: there is no such conversation, or its retention is over.
            AccessDenied: the caller isn't among its owners.
            IdempotencyConflict: the token's key came with another request.
        """
        backoff = Backoff("many are writing this conversation", attempts=_ATTEMPTS)
        while True:
            found = self._store.header(caller.tenant, session)
            if found is None or found.expired(self._clock()):
                raise NotFound("no conversation has this session id")
            rules.assert_may_write(caller, found)
            before = None if token is None else self._store.request(found, token.key)
            if before is not None and token is not None and token.wrote(before["req"]):
                return found, self._message(found, before)
            if found.count == 0:
                return found, None
            item = self._store.item(found, found.count - 1)
            popped = None if item is None else self._popped(found, item, token)
            if popped is not None:
                return popped
            backoff.wait()

    def _popped(
        self, found: Conversation, item: Item, token: RequestToken | None
    ) -> tuple[Conversation, Message] | None:
        """What came of removing the message of this item; None if others were faster."""
        after = replace(
            found, count=found.count - 1, revision=found.revision + 1, updated=self._clock()
        )
        try:
            self._store.commit(_writes(found, after, item, token))
        except Refused:
            return None
        return after, self._message(found, item)

    def _message(self, found: Conversation, item: Item) -> Message:
        index = item.get("at", found.count - 1)
        sort = build_message_key(place_of(found)[0], found.generation, index)[1]
        return rules.migrated(found, self._items.message_of(found, item | {"sk": sort}))


def _writes(
    before: Conversation, after: Conversation, item: Item, token: RequestToken | None
) -> list[Write]:
    partition, _ = place_of(before)
    taken = delete(
        build_message_key(partition, before.generation, after.count), "attribute_exists(pk)"
    )
    if token is None:
        return [moved(before, after), taken]
    key = build_append_request_key(partition, before.generation, token.key)
    kept = {name: item[name] for name in ("val", "data_key", "sealed_at") if name in item}
    request = kept | {"at": after.count, "req": token.stored}
    return [moved(before, after), taken, put(key, request, "attribute_not_exists(pk)")]

"""Appending: one write, whatever the length of the conversation (contract §9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from functions.conversations import rules
from functions.conversations.items import ConversationItems, moved, place_of
from functions.conversations.model import Conversation, Message
from functions.conversations.store import ConversationStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.conversation_keys import build_append_request_key
from functions.platform.errors import BatchTooLarge, NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.limits import MAX_TRANSACTION_BYTES
from functions.platform.retry import Backoff
from functions.platform.table import Refused
from functions.platform.writes import Write, put

if TYPE_CHECKING:
    from functions.conversations.requests import NewMessage

_ATTEMPTS = 30


class Appends:
    """Adds messages at a conversation's end, each at the next index: no gap, none twice.

    The index is a condition: who comes second finds the header moved on, and takes the next.
    """

    def __init__(self, store: ConversationStore, items: ConversationItems, clock: Clock) -> None:
        self._store = store
        self._items = items
        self._clock = clock

    def append(
        self,
        caller: Principal,
        session: str,
        new: Sequence[NewMessage],
        token: RequestToken | None,
    ) -> tuple[Conversation, list[Message]]:
        """The conversation after the append, and the messages in their places.

        Raises:
            NotFound: there is no such conversation, or its retention is over.
            AccessDenied: the caller isn't among its owners.
            ValidationFailed, ValueTooLarge, BatchTooLarge: the messages can't stand as they are.
            IdempotencyConflict: the token's key came with another body.
        """
        now = self._clock()
        backoff = Backoff("many are writing this conversation", attempts=_ATTEMPTS)
        while True:
            found = self._open(caller, session, now)
            texts = rules.message_texts(new, found.schema, now)
            added = [Message(found.count + at, text) for at, text in enumerate(texts)]
            count, revision = found.count + len(added), found.revision + 1
            after = replace(found, count=count, revision=revision, updated=now)
            try:
                self._store.commit(self._writes(found, after, added, token))
            except Refused as refused:
                first = None if token is None else _first(found, token, refused)
                if first is not None:
                    return self._again(found, first)
            else:
                return after, [rules.migrated(found, message) for message in added]
            backoff.wait()

    def _open(self, caller: Principal, session: str, now: int) -> Conversation:
        found = self._store.header(caller.tenant, session)
        if found is None or found.expired(now):
            raise NotFound("no conversation has this session id; PUT it first")
        rules.assert_may_write(caller, found)
        return found

    def _writes(
        self,
        before: Conversation,
        after: Conversation,
        added: list[Message],
        token: RequestToken | None,
    ) -> list[Write]:
        place = place_of(before)
        request = None if token is None else token.stored
        messages = [self._items.message(before, message, request) for message in added]
        size = sum(write.size for write in messages)
        if size > MAX_TRANSACTION_BYTES:
            raise BatchTooLarge(
                "append fewer messages at once", max=MAX_TRANSACTION_BYTES, actual=size
            )
        on = moved(before, after)
        if token is None:
            return [on, *messages]
        key = build_append_request_key(place[0], before.generation, token.key)
        kept = {"at": before.count, "messages": len(added), "req": token.stored}
        return [on, *messages, put(key, kept, "attribute_not_exists(pk)")]

    def _again(self, found: Conversation, first: Item) -> tuple[Conversation, list[Message]]:
        """The first answer of a request that was carried out before.

        Raises:
            NotFound: its messages were taken off the conversation since.
        """
        places = range(first["at"], first["at"] + first["messages"])
        items = [self._store.item(found, index) for index in places]
        messages = [
            self._items.message_of(found, item)
            for item in items
            if item is not None and item.get("req") == first["req"]
        ]
        if len(messages) < len(places):
            raise NotFound("the messages of this request were taken off the conversation since")
        return found, [rules.migrated(found, message) for message in messages]


def _first(found: Conversation, token: RequestToken, refused: Refused) -> Item | None:
    """What a request left behind when it was carried out before."""
    key = build_append_request_key(place_of(found)[0], found.generation, token.key)
    item = refused.failed.get(key)
    return item if item is not None and token.wrote(item["req"]) else None

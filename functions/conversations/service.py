"""Use cases on conversations (Agent Memory Protocol §3; contract §9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from functions.conversations import remains, rules
from functions.conversations.appends import Appends
from functions.conversations.items import ConversationItems, header, listing, place_of, row_of
from functions.conversations.model import Conversation, Message, Page, Take
from functions.conversations.pops import Pops
from functions.conversations.remains import Remains
from functions.conversations.retention import Retention
from functions.conversations.store import ConversationStore, Replaced
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.conversation_keys import (
    build_details_key,
    build_orphaned_messages_key,
    create_generation,
)
from functions.platform.errors import NotFound, Throttled, VersionMismatch
from functions.platform.limits import MAX_TRANSACTION_BYTES
from functions.platform.retry import Backoff
from functions.platform.table import Refused
from functions.platform.writes import Write, delete, put

if TYPE_CHECKING:
    from functions.conversations.requests import NewConversation

_AT_ONCE = 80  # messages that the write itself holds
_SECONDS = 4.0  # what a call spends on removing; the schedule does the rest


class Conversations:
    """The conversations of a caller's tenant."""

    def __init__(
        self,
        store: ConversationStore,
        items: ConversationItems,
        appends: Appends,
        pops: Pops,
        remains_: Remains,
        retention: Retention,
        clock: Clock,
    ) -> None:
        self._store = store
        self._items = items
        self.append = appends.append
        self.pop = pops.pop
        self._remains = remains_
        self._retention = retention
        self._clock = clock

    def read(
        self, caller: Principal, session: str, first: int, most: int | None, take: Take[Page]
    ) -> tuple[Conversation, Page]:
        """A conversation, and what `take` makes of at most `most` messages from `first` on.

        Where `first` is negative, it counts from the end.

        Raises:
            NotFound: there is none, or its retention is over.
            AccessDenied: the caller may not read it.
        """
        backoff = Backoff("the conversation is being replaced again and again")
        while True:
            found = self._present(self._store.get(caller.tenant, session))
            rules.assert_may_read(caller, found)
            start = max(found.count + first, 0) if first < 0 else first
            last = found.count if most is None else min(start + most, found.count)
            messages = self._store.messages(found, start, last - 1) if start < last else iter(())
            try:
                return found, take(rules.migrated(found, message) for message in messages)
            except Replaced:
                backoff.wait()

    def of_user(
        self, caller: Principal, user: str, tags: frozenset[str], limit: int, offset: int
    ) -> tuple[list[Conversation], int]:
        """A page of the user's conversations that the caller may read, newest first; their number.

        Costs the user's list (a small row each) and the page.
        """
        now = self._clock()
        sessions = [
            row["session"]
            for row in self._store.rows(caller, user)
            if row.get("ends", now + 1) > now and tags <= frozenset(row.get("tags", ()))
        ]
        page = sessions[offset : offset + limit]
        found = self._store.get_many(caller.tenant, page)
        return [found[session] for session in page if session in found], len(sessions)

    def put(
        self, caller: Principal, session: str, new: NewConversation, version: int | None
    ) -> tuple[Conversation, bool]:
        """Stores a whole conversation, in place of the one before it; whether it is the first.

        Raises:
            ValidationFailed, ValueTooLarge: the body can't stand as it is.
            AccessDenied: the session is somebody else's.
            VersionMismatch: If-Match names another version.
        """
        now = self._clock()
        wanted = rules.new_conversation(caller, session, new, now)
        texts = rules.message_texts(new.messages, wanted.schema, now)
        messages = [Message(index, text) for index, text in enumerate(texts)]
        backoff = Backoff("others are writing this conversation")
        while True:
            old = self._writable(caller, session, version)
            made = wanted if old is None else rules.in_place_of(old, wanted)
            made = replace(made, generation=create_generation())
            try:
                self._replace(old, made, messages)
            except Refused:
                backoff.wait()
                continue
            if old is not None:
                self._clear(old)
            return made, old is None

    def _writable(
        self, caller: Principal, session: str, version: int | None
    ) -> Conversation | None:
        found = self._store.get(caller.tenant, session)
        if found is not None and found.expired(self._clock()):
            if not self._retention.end(place_of(found), _SECONDS * 4):
                raise Throttled("the one before it is being archived; try again in a minute")
            found = None
        if found is None:
            if version:  # 0 demands that there is none
                raise NotFound("no conversation has this session id")
            return None
        rules.assert_may_write(caller, found)
        if version not in (None, found.revision):
            raise VersionMismatch(
                f"the conversation is at version {found.revision}; read it and try again",
                version=found.revision,
            )
        return found

    def _replace(
        self, old: Conversation | None, new: Conversation, messages: list[Message]
    ) -> None:
        """Shows the new messages and hides the old ones in one write, whatever their number."""
        writes = [self._items.message(new, message) for message in messages]
        change = self._change(old, new)
        if (
            len(writes) > _AT_ONCE
            or sum(write.size for write in writes) > MAX_TRANSACTION_BYTES // 2
        ):
            self._store.commit([remains.staged(new, new.updated)])
            self._store.write_many(writes)
            writes = [remains.shown(new)]
        self._store.commit([*change, *writes])

    def _change(self, old: Conversation | None, new: Conversation) -> list[Write]:
        place = place_of(new)
        changes = [self._items.details(new), listing(new)]
        if old is None:
            return [put(place, header(new), "attribute_not_exists(pk)"), *changes]
        if row_of(old) != row_of(new):
            changes.append(delete(row_of(old)))
        seen = {"seen": old.revision, "of": old.generation}
        replaced = put(place, header(new), _AS_SEEN, **seen)
        return [replaced, remains.gone(old, new.updated), *changes]

    def delete(self, caller: Principal, session: str, version: int | None) -> None:
        """Deletes a conversation: from the answer on nothing of it shows.

        Raises:
            NotFound, AccessDenied, VersionMismatch: as they say.
        """
        backoff = Backoff("others are writing this conversation")
        while True:
            old = self._present(self._writable(caller, session, version))
            place = place_of(old)
            seen = {"seen": old.revision, "of": old.generation}
            taken = [delete(build_details_key(place[0])), delete(row_of(old))]
            note = remains.gone(old, self._clock())
            try:
                self._store.commit([delete(place, _AS_SEEN, **seen), note, *taken])
            except Refused:
                backoff.wait()
                continue
            self._clear(old)
            return

    def _present(self, found: Conversation | None) -> Conversation:
        if found is None or found.expired(self._clock()):
            raise NotFound("no conversation has this session id")
        return found

    def _clear(self, old: Conversation) -> None:
        partition, _ = place_of(old)
        self._remains.clear(build_orphaned_messages_key(partition, old.generation), _SECONDS)


_AS_SEEN = "version = :seen AND generation = :of"

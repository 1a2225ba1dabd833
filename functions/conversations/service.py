"""Use cases of conversations (Agent Memory Protocol §3; contract §9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from functions.conversations.archive import ConversationArchive
from functions.conversations.mapper import header_key
from functions.conversations.model import BuildPage, Conversation, Message, Page
from functions.conversations.orphan_store import OrphanedMessages, orphan_key
from functions.conversations.rules import (
    assert_may_read,
    assert_may_write,
    build_conversation,
    build_messages,
    migrate_message,
    supersede,
)
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.conversation_keys import create_generation
from functions.platform.errors import NotFound, Throttled, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.retry import Backoff

if TYPE_CHECKING:
    from functions.conversations.requests import NewConversation, NewMessage

_APPEND_ATTEMPTS = 30
_CLEANUP_SECONDS = 4.0  # that a request spends on removing; the schedule does the rest
_ARCHIVE_SECONDS = 16.0
_BUSY = "others are writing this conversation"


class Conversations:
    """The conversations of a caller's tenant.

    Every method raises `NotFound` where there is no such conversation or its retention is over, and
    `AccessDenied` where the caller may not read or write it.
    """

    def __init__(
        self,
        store: ConversationStore,
        orphans: OrphanedMessages,
        archive: ConversationArchive,
        clock: Clock,
    ) -> None:
        self._store = store
        self._orphans = orphans
        self._archive = archive
        self._clock = clock

    def read(
        self,
        caller: Principal,
        session: str,
        first: int,
        limit: int | None,
        build_page: BuildPage[Page],
    ) -> tuple[Conversation, Page]:
        """Read a conversation, and a page of at most `limit` messages from `first` on.

        A negative `first` counts from the end.
        """
        backoff = Backoff("the conversation is being replaced again and again")
        while True:
            found = self._existing(self._store.get(caller.tenant, session))
            assert_may_read(caller, found)
            start = max(found.count + first, 0) if first < 0 else first
            end = found.count if limit is None else min(start + limit, found.count)
            messages = self._store.read_messages(found, start, end - 1) if start < end else ()
            try:
                return found, build_page(migrate_message(found, each) for each in messages)
            except ConversationChanged:
                backoff.wait()

    def list_for_user(
        self, caller: Principal, user: str, tags: frozenset[str], limit: int, offset: int
    ) -> tuple[list[Conversation], int]:
        """List a page of the user's conversations that the caller may read, newest first.

        Returns the page and how many there are. Costs the user's list (a small row each) and the
        page.
        """
        now = self._clock()
        sessions = [
            row["session"]
            for row in self._store.list_sessions(caller.tenant, user, caller.id)
            if row.get("expires", now + 1) > now and tags <= frozenset(row.get("tags", ()))
        ]
        page = sessions[offset : offset + limit]
        found = self._store.get_many(caller.tenant, page)
        return [found[session] for session in page if session in found], len(sessions)

    def append(
        self,
        caller: Principal,
        session: str,
        new: Sequence[NewMessage],
        token: RequestToken | None,
    ) -> tuple[Conversation, list[Message]]:
        """Append messages, each at the next index: no gap, none twice.

        Returns the conversation after the append, and the messages.

        Raises:
            ValidationFailed: a message cannot be written as JSON.
            ValueTooLarge, BatchTooLarge: a message, or all of them, are too large.
            IdempotencyConflict: the token's key came with another body.
        """
        now = self._clock()
        backoff = Backoff("many are writing this conversation", attempts=_APPEND_ATTEMPTS)
        while True:
            found = self._store.get_header(caller.tenant, session)
            if found is None or found.has_expired(now):
                raise NotFound("no conversation has this session id; PUT it first")
            assert_may_write(caller, found)
            messages = build_messages(new, found.schema, now, found.count)
            after = _advance(found, found.count + len(messages), now)
            try:
                stored, added = self._store.append(found, after, messages, token)
            except ConversationChanged:
                backoff.wait()
            else:
                return stored, [migrate_message(found, message) for message in added]

    def pop(
        self, caller: Principal, session: str, token: RequestToken | None
    ) -> tuple[Conversation, Message | None]:
        """Remove the last message, exactly one for each request.

        Returns the conversation after it, and the message: None if there was none.

        Raises:
            IdempotencyConflict: the token's key came with another request.
        """
        backoff = Backoff("many are writing this conversation", attempts=_APPEND_ATTEMPTS)
        while True:
            found = self._existing(self._store.get_header(caller.tenant, session))
            assert_may_write(caller, found)
            popped = None if token is None else self._store.get_popped(found, token)
            if popped is not None:
                return found, migrate_message(found, popped)
            if found.count == 0:
                return found, None
            after = _advance(found, found.count - 1, self._clock())
            try:
                return after, migrate_message(found, self._store.pop(found, after, token))
            except ConversationChanged:
                backoff.wait()

    def put(
        self, caller: Principal, session: str, new: NewConversation, version: int | None
    ) -> tuple[Conversation, bool]:
        """Store a whole conversation in place of the one before it.

        Returns the conversation, and whether it is new.

        Args:
            version: the revision that If-Match names; 0 demands that there is none.

        Raises:
            ValidationFailed, ValueTooLarge: the body does not fit.
            VersionMismatch: If-Match names another revision than the present one.
        """
        now = self._clock()
        wanted = build_conversation(caller, session, new, now)
        messages = build_messages(new.messages, wanted.schema, now)
        backoff = Backoff(_BUSY)
        while True:
            old = self._get_writable(caller, session, version)
            made = wanted if old is None else supersede(old, wanted)
            made = replace(made, generation=create_generation())
            try:
                self._store.replace(old, made, messages)
            except ConversationChanged:
                backoff.wait()
                continue
            if old is not None:
                self._orphans.remove(orphan_key(old), _CLEANUP_SECONDS)
            return made, old is None

    def delete(self, caller: Principal, session: str, version: int | None) -> None:
        """Delete a conversation: from the response on nothing of it is visible.

        Raises:
            VersionMismatch: If-Match names another revision than the present one.
        """
        backoff = Backoff(_BUSY)
        while True:
            old = self._existing(self._get_writable(caller, session, version))
            try:
                self._store.delete(old, self._clock())
            except ConversationChanged:
                backoff.wait()
                continue
            self._orphans.remove(orphan_key(old), _CLEANUP_SECONDS)
            return

    def _get_writable(
        self, caller: Principal, session: str, version: int | None
    ) -> Conversation | None:
        found = self._store.get(caller.tenant, session)
        if found is not None and found.has_expired(self._clock()):
            if not self._archive.end_retention(header_key(found), _ARCHIVE_SECONDS):
                raise Throttled("the one before it is being archived; try again in a minute")
            found = None
        if found is None:
            if version:
                raise NotFound("no conversation has this session id")
            return None
        assert_may_write(caller, found)
        if version not in (None, found.revision):
            raise VersionMismatch(
                f"the conversation is at version {found.revision}; read it and try again",
                version=found.revision,
            )
        return found

    def _existing(self, found: Conversation | None) -> Conversation:
        if found is None or found.has_expired(self._clock()):
            raise NotFound("no conversation has this session id")
        return found


def _advance(found: Conversation, count: int, now: int) -> Conversation:
    return replace(found, count=count, revision=found.revision + 1, updated=now)

"""Use cases of a conversation's messages: append, pop, change, remove."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize
from functions.conversations import rules
from functions.conversations.authority import CHANGE_CONVERSATION, CHANGE_MESSAGE, DELETE_MESSAGE
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation, Message
from functions.conversations.requests import MessageChange, NewMessages
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.retry import retry_on
from functions.platform.writes import Write

_ATTEMPTS = 30
_BUSY = "others are writing this conversation"


@dataclass(eq=False)
class Messages:
    """The messages of the conversations of a caller's tenant.

    Every method raises `NotFound` if the conversation does not exist or has expired, `AccessDenied`
    if the caller is not an owner, and `VersionMismatch` if If-Match names another revision than the
    present one. A request that is repeated with its Idempotency-Key is carried out once; with
    another body, it raises `IdempotencyConflict`.
    """

    _store: ConversationStore
    _messages: MessageStore
    _audit: AuditTrail
    _clock: Clock
    _get_principals: Callable[[str, Iterable[str]], list[Principal]]

    @retry_on(ConversationChanged, _BUSY, attempts=_ATTEMPTS)
    def append(
        self,
        caller: Principal,
        session: str,
        new: NewMessages,
        version: int | None,
        token: RequestToken | None,
    ) -> tuple[Conversation, list[Message]]:
        """Append messages, each at the next index.

        Returns the conversation after the append, and the messages.

        Raises:
            ConversationNotOwned: the creator or the user is not the expected one.
            ValidationFailed: a message cannot be written as JSON.
            ValueTooLarge: a message is too large.
        """
        found = self._get_writable(caller, session)
        is_trusted = not new.expect_trusted or self._is_trusted(caller, found)
        rules.assert_expected(found, new, is_trusted=is_trusted)
        if version not in (None, found.revision):
            earlier = self._messages.find_appended(found, token)
            if earlier is not None:
                return found, earlier
        rules.assert_version(found, version)
        now = self._clock()
        texts = rules.build_texts(new.all, found.schema, now)
        count, end = found.message_count + len(texts), found.end + len(texts)
        after = rules.advance(found, now, message_count=count, end=end)
        try:
            self._messages.append(found, after, texts, caller.id, token)
        except ConversationChanged:
            earlier = self._messages.find_appended(found, token)
            if earlier is None:
                raise
            return self._get_writable(caller, session), earlier
        added = [Message(found.end + n, text, caller.id) for n, text in enumerate(texts)]
        return after, [rules.migrate_message(found, each) for each in added]

    def _is_trusted(self, caller: Principal, found: Conversation) -> bool:
        if found.created_by == caller.id:
            return True
        creators = self._get_principals(caller.tenant, [found.created_by])
        return any(rules.is_trusted_creator(each, caller) for each in creators)

    @retry_on(ConversationChanged, _BUSY, attempts=_ATTEMPTS)
    def pop(
        self, caller: Principal, session: str, version: int | None, token: RequestToken | None
    ) -> tuple[Conversation, Message | None]:
        """Remove the last message, once even if the request is repeated.

        Returns the changed conversation, and the message; None if there was none.
        """
        found = self._get_writable(caller, session)
        popped = self._messages.get_popped(found, token)
        if popped is not None:
            return found, popped
        rules.assert_version(found, version)
        if found.message_count == 0:
            return found, None
        last = self._messages.read_last(found)
        if last is None:
            raise ConversationChanged
        message = self._messages.decode(found, last)
        end = message.index if message.index == found.end - 1 else found.end
        count = found.message_count - 1
        after = rules.rewrite(found, self._clock(), message_count=count, end=end)
        audit = self._record(caller, DELETE_MESSAGE, found, message.index, message.created_by)
        self._messages.pop(found, after, last, message.text, token, audit)
        return after, message

    @retry_on(ConversationChanged, _BUSY, attempts=_ATTEMPTS)
    def change(
        self,
        caller: Principal,
        session: str,
        index: int,
        change: MessageChange,
        version: int | None,
        token: RequestToken | None,
    ) -> tuple[Conversation, Message]:
        """Change a message in place; return it, and the changed conversation.

        Raises:
            NotFound: there is no message of this index.
            ValidationFailed, ValueTooLarge: the changed message is malformed or too large.
        """
        found = self._get_writable(caller, session)
        old = self._messages.get(found, index)
        if old is None:
            raise NotFound("the conversation has no message with this index")
        if rules.is_repeated(found, token):
            return found, old
        rules.assert_version(found, version)
        message = rules.change_message(old, change, caller.id, self._clock())
        after = rules.record_request(rules.rewrite(found, self._clock()), token)
        audit = self._record(caller, CHANGE_MESSAGE, found, index, old.created_by)
        self._messages.change(found, after, message, audit)
        return after, message

    @retry_on(ConversationChanged, _BUSY, attempts=_ATTEMPTS)
    def remove(
        self, caller: Principal, session: str, first: int, end: int | None, version: int | None
    ) -> tuple[Conversation, int]:
        """Remove the messages in a range of indexes, in one step.

        The others keep their indexes. Returns the conversation, and how many were removed.

        Args:
            end: None for the end of the conversation.
        """
        found = self._get_writable(caller, session)
        rules.assert_version(found, version)
        stop = found.end if end is None else min(end, found.end)
        count = self._messages.count(found, first, stop) if first < stop else 0
        if count == 0:
            return found, 0
        after = rules.remove_range(found, first, stop, count, self._clock())
        other = self._messages.find_other_author(found, first, stop, caller.id)
        audit = self._record(caller, DELETE_MESSAGE, found, first, other)
        self._messages.remove_range(found, after, audit)
        return after, count

    def _record(
        self,
        caller: Principal,
        action: Action[Any],
        conversation: Conversation,
        index: int,
        author: str | None,
    ) -> list[Write]:
        target = f"message:{conversation.session_id}/{index}"
        return self._audit.record_foreign(caller, author, action, target, {"author": author})

    def _get_writable(self, caller: Principal, session: str) -> Conversation:
        found = self._store.get_header(caller.tenant, session)
        if found is None or found.has_expired(self._clock()):
            raise NotFound(
                "no conversation has this session id; create it by PUT, or by client.say"
            )
        authorize(caller, CHANGE_CONVERSATION, found)
        return found

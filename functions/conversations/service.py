"""Use cases of whole conversations, and of uploads (Agent Memory Protocol §3).

By an upload, a conversation of any length becomes visible by one write.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize, is_allowed
from functions.conversations import authority, rules
from functions.conversations.archive import ConversationArchive
from functions.conversations.mapper import header_key, marker_key
from functions.conversations.message_store import MessageStore, build_key
from functions.conversations.model import BuildPage, Conversation, Message, Page, Use
from functions.conversations.requests import (
    ConversationChange,
    NewConversation,
    NewMessage,
    NewUpload,
)
from functions.conversations.store import ConversationChanged, ConversationStore, show_upload
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, Examined, WantedPage, take_page
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, Throttled, ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.keys import Digest
from functions.platform.limits import STAGED_LIFETIME
from functions.platform.retry import retry_on
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.platform.staging import Staging
from functions.platform.writes import Write

ATTEMPTS = 30
_ARCHIVE_SECONDS = 16.0
_BUSY = "others are writing this conversation"


@dataclass(eq=False)
class Conversations:
    """The conversations of a caller's tenant.

    Every method raises `NotFound` if the conversation does not exist or has expired, and
    `AccessDenied` if the caller may not do it.
    """

    _store: ConversationStore
    _messages: MessageStore
    _staging: Staging
    _archive: ConversationArchive
    _audit: AuditTrail
    _clock: Clock

    @retry_on(ConversationChanged, "others keep replacing the conversation")
    def read(
        self,
        caller: Principal,
        session: str,
        first: int,
        limit: int | None,
        build_page: BuildPage[Page],
    ) -> tuple[Conversation, int, Page]:
        """Read a conversation, and a page of at most `limit` messages from the index `first` on.

        A negative `first` counts from the end. Also returns the index of the page's first message.
        """
        found = self._existing(self._store.get(caller.tenant, session))
        authorize(caller, authority.READ_CONVERSATION, found)
        start = self._messages.find_last(found, -first) if first < 0 else first
        page = build_page(found, self._messages.read(found, start, limit))
        if not found.is_dense:
            self._messages.assert_unchanged(found)
        return found, start, page

    @retry_on(ConversationChanged, "others keep replacing the conversation")
    def get_message(
        self, caller: Principal, session: str, index: int
    ) -> tuple[Conversation, Message]:
        """Read one message, and the head of its conversation: two reads."""
        found = self.find_header(caller, session)
        authorize(caller, authority.READ_CONVERSATION, found)
        message = self._messages.get(found, index)
        if message is None:
            raise NotFound("the conversation has no message with this index")
        return found, message

    def find_header(self, caller: Principal, session: str) -> Conversation:
        """Read a conversation without messages and metadata, without authorization: one read."""
        return self._existing(self._store.get_header(caller.tenant, session))

    @retry_on(ConversationChanged, "others keep changing the conversations")
    def list_uses(
        self, caller: Principal, reference: Digest, wanted: WantedPage
    ) -> BoundedPage[Use]:
        """List the messages that name an item of memory and that the caller may read, newest first.

        Those of encrypted conversations are left out, as by searches.
        """
        return take_page(wanted, self._examine_uses(caller, reference, wanted))

    def _examine_uses(
        self, caller: Principal, reference: Digest, wanted: WantedPage
    ) -> Iterator[Examined[Use]]:
        for rows in self._messages.list_uses(caller.tenant, reference, wanted):
            sessions = [row["session_id"] for row in rows] or [""]
            heads = self._store.get_headers(caller.tenant, sessions)
            places = {
                row["sk"]: (head, index)
                for row in rows
                if (head := heads.get(row["session_id"])) is not None
                and (index := rules.find_use(head, row["sk"], self._clock())) is not None
                and is_allowed(caller, authority.READ_CONVERSATION, head)
            }
            found = self._messages.get_many(places.values())
            for row in rows:
                position, use = row[TYPE_ORDER_ATTRIBUTE], None
                head, index = places.get(row["sk"], (None, 0))
                message = None if head is None else found.get(build_key(head, index))
                if head and message and reference in rules.read_uses(message.text)[0]:
                    use = Use(position, head, message)
                yield Examined(position, use)

    # Changes

    @retry_on(ConversationChanged, _BUSY, attempts=ATTEMPTS)
    def put(
        self,
        caller: Principal,
        session: str,
        new: NewConversation,
        version: int | None,
        token: RequestToken | None,
    ) -> tuple[Conversation, bool]:
        """Create or replace a whole conversation, in one step.

        Returns the conversation, and whether it is new.

        Args:
            version: the revision that If-Match names; 0 demands that there is none.

        Raises:
            ValidationFailed, ValueTooLarge: the body is malformed or too large.
            VersionMismatch: If-Match names another revision than the present one.
            NotFound: If-Match names a revision of none, or there is no such upload.
            CapacityExceeded: the caller has put too many into this user's list.
        """
        now = self._clock()
        wanted = rules.build_conversation(caller, session, new, now)
        texts = rules.build_texts(new.messages, wanted.schema, now)
        old = self._get_present(caller.tenant, session)
        if old is not None:
            authorize(caller, authority.CHANGE_CONVERSATION, old)
            if old.generation == new.upload_id or rules.is_repeated(old, token):
                return old, old.revision == 1
        rules.assert_version(old, version)
        made = wanted if old is None else rules.supersede(old, wanted)
        made = rules.record_request(made, token)
        if new.upload_id is None:
            messages = self._messages.prepare(made, texts, caller.id, now)
        else:
            made = rules.show_uploaded(made, self._get_upload(caller, session, new.upload_id))
            messages = [show_upload(made)]
        records = self._record(caller, authority.REPLACE_CONVERSATION, old)
        self._store.replace(old, made, [*messages, *records], now)
        if old is not None:
            self._staging.remove(marker_key(old))
        return made, old is None

    @retry_on(ConversationChanged, _BUSY, attempts=ATTEMPTS)
    def change(
        self,
        caller: Principal,
        session: str,
        change: ConversationChange,
        version: int | None,
        token: RequestToken | None,
    ) -> Conversation:
        """Change some fields of a conversation; its messages stay as they are.

        Raises:
            ValidationFailed, ValueTooLarge: the body does not fit.
            VersionMismatch: If-Match names another revision than the present one.
        """
        now = self._clock()
        old = self._existing(self._store.get(caller.tenant, session))
        authorize(caller, authority.CHANGE_CONVERSATION, old)
        if rules.is_repeated(old, token):
            return old
        rules.assert_version(old, version)
        new = rules.record_request(rules.change_conversation(old, change, now), token)
        self._store.change(old, new)
        return new

    @retry_on(ConversationChanged, _BUSY, attempts=ATTEMPTS)
    def delete(
        self, caller: Principal, session: str, version: int | None, *, is_recorded: bool = True
    ) -> None:
        """Delete a conversation; it is hidden before the response.

        Args:
            is_recorded: False where one record covers the deletion of several.

        Raises:
            VersionMismatch: If-Match names another revision than the present one.
        """
        old = self._existing(self._store.get_header(caller.tenant, session))
        authorize(caller, authority.DELETE_CONVERSATION, old)
        rules.assert_version(old, version)
        records = self._record(caller, authority.DELETE_CONVERSATION, old) if is_recorded else []
        self._store.delete(old, self._clock(), *records)
        self._staging.remove(marker_key(old))

    # Uploads; each belongs to the principal that began it

    def begin_upload(
        self, caller: Principal, session: str, new: NewUpload, token: RequestToken | None
    ) -> Conversation:
        """Begin the upload of a conversation's messages.

        Raises:
            AccessDenied: there is a conversation that the caller may not change.
            ValidationFailed: the version of the schema is unknown.
            VersionMismatch: the request is repeated, and a conversation shows the upload.
        """
        now = self._clock()
        present = self._store.get_header(caller.tenant, session)
        if present is not None and not present.has_expired(now):
            authorize(caller, authority.CHANGE_CONVERSATION, present)
        upload = Conversation(
            tenant=caller.tenant,
            session_id=session,
            user_id="",
            created_by=caller.id,
            metadata=b"{}",
            generation=rules.create_generation() if token is None else token.key.hex()[:16],
            message_count=0,
            end=0,
            revision=0,
            created_at=now,
            updated_at=now,
            sensitivity=new.sensitivity,
            schema=rules.check_schema(new.version),
            expires_at=now + STAGED_LIFETIME,
        )
        if self._store.begin_upload(upload):
            return upload
        earlier = self._store.get_upload(caller.tenant, session, upload.generation)
        if earlier is None:
            raise VersionMismatch("the upload of this request has been completed or has expired")
        return earlier

    def write_upload(
        self, caller: Principal, session: str, id: str, first: int, new: Sequence[NewMessage]
    ) -> Conversation:
        """Store messages of an upload from an index on.

        A late first try of a request, which ends after its retry and later requests, changes
        nothing.

        Raises:
            NotFound: there is no such upload, or it has ended.
            AccessDenied: another principal began it.
            ValidationFailed: the messages don't follow those that it has.
            ValueTooLarge: a message is too large.
        """
        upload, now = self._get_upload(caller, session, id), self._clock()
        texts = rules.build_texts(new, upload.schema, now)
        end = first + len(texts)
        if not self._store.begin_part(upload, first, end, now):
            count = self._get_upload(caller, session, id).message_count
            text = f"must be {count}, the number of messages that the upload has"
            raise ValidationFailed("offset", text)
        self._messages.write_pending(upload, texts, first)
        if not self._store.end_part(upload, end):
            return self._get_upload(caller, session, id)
        return self._store.get_upload(caller.tenant, session, id) or upload

    def _get_upload(self, caller: Principal, session: str, id: str) -> Conversation:
        upload = self._store.get_upload(caller.tenant, session, id)
        if upload is None:
            raise NotFound("there is no such upload; begin one")
        authorize(caller, authority.USE_UPLOAD, upload)
        return upload

    def _record(
        self, caller: Principal, action: Action[Conversation], old: Conversation | None
    ) -> list[Write]:
        """Record what happens to a conversation that another principal has made."""
        if old is None:
            return []
        target = f"conversation:{old.session_id}"
        before = {"user_id": old.user_id, "message_count": old.message_count}
        return self._audit.record_foreign(caller, old.created_by, action, target, before)

    def _get_present(self, tenant: str, session: str) -> Conversation | None:
        """Read a conversation's header; archive one whose retention is over."""
        found = self._store.get_header(tenant, session)
        if found is None or not found.has_expired(self._clock()):
            return found
        if not self._archive.end_retention(header_key(found), _ARCHIVE_SECONDS):
            raise Throttled(
                "the former conversation of this session is being archived; try again in a minute"
            )
        return None

    def _existing(self, found: Conversation | None) -> Conversation:
        if found is None or found.has_expired(self._clock()):
            raise rules.conversation_not_found()
        return found

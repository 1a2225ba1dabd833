"""Use cases of uploads: a conversation of any length becomes visible by one write."""

from collections.abc import Sequence

from functions.authorization.rules import authorize
from functions.conversations.authority import CHANGE_CONVERSATION, USE_UPLOAD
from functions.conversations.model import Conversation
from functions.conversations.requests import NewMessage, NewUpload
from functions.conversations.rules import build_texts, check_schema, create_generation
from functions.conversations.store import ConversationStore
from functions.conversations.upload_store import UploadStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.limits import STAGED_LIFETIME


class Uploads:
    """The uploads of a caller's tenant; each is used by the principal that began it alone."""

    def __init__(self, store: UploadStore, conversations: ConversationStore, clock: Clock) -> None:
        self._store = store
        self._conversations = conversations
        self._clock = clock

    def begin(
        self, caller: Principal, session: str, new: NewUpload, token: RequestToken | None
    ) -> Conversation:
        """Begin the upload of a conversation's messages.

        Raises:
            AccessDenied: there is a conversation that the caller may not change.
            ValidationFailed: the version of the schema is unknown.
            VersionMismatch: the request is repeated, and a conversation shows the upload.
        """
        now = self._clock()
        present = self._conversations.get_header(caller.tenant, session)
        if present is not None and not present.has_expired(now):
            authorize(caller, CHANGE_CONVERSATION, present)
        upload = Conversation(
            tenant=caller.tenant,
            session_id=session,
            user_id="",
            created_by=caller.id,
            metadata=b"{}",
            generation=create_generation() if token is None else token.key.hex()[:16],
            message_count=0,
            end=0,
            revision=0,
            created_at=now,
            updated_at=now,
            sensitivity=new.sensitivity,
            schema=check_schema(new.version),
            expires_at=now + STAGED_LIFETIME,
        )
        if self._store.begin(upload):
            return upload
        earlier = self._store.get(caller.tenant, session, upload.generation)
        if earlier is None:
            raise VersionMismatch("the upload of this request has been completed or has expired")
        return earlier

    def write(
        self, caller: Principal, session: str, id: str, first: int, new: Sequence[NewMessage]
    ) -> Conversation:
        """Store messages of an upload from an index on.

        Raises:
            NotFound: there is no such upload any more.
            AccessDenied: somebody else began it.
            ValidationFailed: the messages don't follow those that it has.
            ValueTooLarge: a message is too large.
        """
        upload, now = self.get(caller, session, id), self._clock()
        texts = build_texts(new, upload.schema, now)
        self._store.write(upload, texts, first, now)
        return self._store.get(caller.tenant, session, id) or upload

    def get(self, caller: Principal, session: str, id: str) -> Conversation:
        """Get an upload.

        Raises:
            NotFound: there is no such upload any more.
            AccessDenied: somebody else began it.
        """
        upload = self._store.get(caller.tenant, session, id)
        if upload is None:
            raise NotFound("there is no such upload; begin one")
        authorize(caller, USE_UPLOAD, upload)
        return upload

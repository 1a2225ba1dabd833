"""End the retention of a conversation: archive it, then remove it from the table."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, is_allowed
from functions.conversations import authority
from functions.conversations.archive_store import (
    DETAILS,
    PART,
    ArchiveFiles,
    ConversationArchiveStore,
    EndedConversation,
    count_parts,
    get_archived_attributes,
)
from functions.conversations.mapper import ConversationMapper, decode_header, marker_key
from functions.conversations.model import BuildPage, Conversation, Message, Page
from functions.conversations.store import ConversationChanged
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, NotFound
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant
from functions.platform.staging import Staging
from functions.platform.writes import Write

_LEAST_SECONDS = 0.1


@dataclass(eq=False)
class ConversationArchive:
    """Archives expired conversations, reads archives back and deletes them.

    Without archive storage, expired conversations are only removed.
    """

    _store: ConversationArchiveStore
    _mapper: ConversationMapper
    _staging: Staging
    _files: ArchiveFiles
    _audit: AuditTrail
    _clock: Clock

    def end_retention(self, key: Key, seconds: float) -> bool:
        """Archive and remove an expired conversation until the deadline; True when it is finished.

        Args:
            key: of the conversation's header.
        """
        deadline = time.monotonic() + seconds
        try:
            ended = self._store.get_ended(key, self._clock())
            if ended is None:
                return True
            record = None
            if self._files.is_available:
                if not self._export(ended, deadline):
                    return False
                record = self._build_record(ended)
            self._store.remove(ended, self._clock(), record)
        except ConversationChanged:
            return True  # another call has removed or replaced the conversation
        left = max(deadline - time.monotonic(), _LEAST_SECONDS)
        return self._staging.remove(marker_key(ended.conversation), left)

    def _export(self, ended: EndedConversation, deadline: float) -> bool:
        """Export missing parts until the deadline; return True if all are exported."""
        conversation = ended.conversation
        for part in range(ended.parts, count_parts(conversation)):
            if time.monotonic() >= deadline:
                return False
            end = min((part + 1) * PART, conversation.end)
            found = self._store.read_items(conversation, part * PART, end)
            items = [self._files.split(conversation, item["index"], item) for item in found]
            self._store.assert_present(conversation)
            self._files.write_part(conversation, part, items)
            self._store.set_parts(conversation, part + 1)
        return True

    def _build_record(self, ended: EndedConversation) -> Item:
        details = get_archived_attributes(ended.details)
        details = self._files.split(ended.conversation, DETAILS, details)
        return get_archived_attributes(ended.header) | {"details": details}

    def read(
        self,
        caller: Principal,
        session: str,
        expired: int | None,
        first: int,
        limit: int | None,
        build_page: BuildPage[Page],
    ) -> tuple[Conversation, Page]:
        """Read an archived conversation, and a page of its messages from `first` on.

        It is the session's newest archive that the caller may read, even if there is a later one of
        other owners.

        Args:
            expired: when its retention ended (epoch ms); None for the newest one.

        Raises:
            NotFound: there is no archive of this session.
            AccessDenied: the caller may read none of them.
        """
        record = self._find(caller, session, expired, authority.READ_CONVERSATION)
        head = decode_header(caller.tenant, record)
        details = self._files.join(head, DETAILS, record["details"])
        found = self._mapper.decode(head, details)
        messages = islice(self._read_messages(found, first), limit)
        return found, build_page(found, messages)

    def delete(self, caller: Principal, session: str, expired: int | None) -> None:
        """Delete the newest archive of a session that the caller may delete.

        Args:
            expired: when its retention ended (epoch ms); None for the newest one.

        Raises:
            NotFound: there is no archive of this session.
            AccessDenied: the caller may delete none of them.
        """
        record = self._find(caller, session, expired, authority.DELETE_CONVERSATION)
        archived = decode_header(caller.tenant, record)
        records = []
        if not is_allowed(caller, authority.CHANGE_CONVERSATION, archived):
            before = {"user_id": archived.user_id, "message_count": archived.message_count}
            target = f"archived_conversation:{session}"
            records.append(
                self._audit.record(caller, authority.DELETE_CONVERSATION, target, before)
            )
        self.delete_record(record, *records)

    def delete_record(self, record: Item, *further: Write) -> None:
        """Delete an archive, by its record, together with further writes."""
        self._files.delete(decode_header(get_tenant(record["pk"]), record))
        self._store.delete((record["pk"], record["sk"]), *further)

    def _find(
        self, caller: Principal, session: str, expired: int | None, action: Action[Conversation]
    ) -> Item:
        is_archived = False
        for record in self._store.list_records(caller.tenant, session):
            if expired not in (None, record["expires_at"]):
                continue
            is_archived = True
            if is_allowed(caller, action, decode_header(caller.tenant, record)):
                return record
        if is_archived:
            raise AccessDenied(action.denied)
        raise NotFound("no conversation of this session is archived")

    def _read_messages(self, archived: Conversation, first: int) -> Iterator[Message]:
        for part in range(first // PART, count_parts(archived)):
            for item in self._files.read_part(archived, part):
                if item["index"] >= first:
                    whole = self._files.join(archived, item["index"], item)
                    yield self._mapper.decode_message(archived, whole, item["index"])

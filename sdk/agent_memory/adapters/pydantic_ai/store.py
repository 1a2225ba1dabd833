"""Pydantic AI's `ConversationStore`: a record and its entries, each an object of the service."""

import asyncio
import uuid
from collections.abc import Iterable, Sequence

from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)

from agent_memory import AsyncClient, Client
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.adapters.pydantic_ai.documents import (
    RECORDS,
    StoredEntry,
    StoredRecord,
    build_entry_key,
    build_family_prefix,
    build_record_key,
    build_scope_prefix,
)
from agent_memory.adapters.pydantic_ai.entries import EntryLog, Recent
from agent_memory.conversion import to_sync
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Sensitivity

_PAGE = 1000


class AgentMemoryConversationStore(ConversationStore):  # type: ignore[misc]
    """Conversations of Pydantic AI, each message an object that is stored once.

    A save becomes visible with its record, or not at all: of two concurrent saves, one raises
    `ConversationConflict`. About 64 messages are read by two requests. Forks share their entries;
    deleting a conversation deletes entries that no other conversation has. Conversations belong to
    the principal. Any event loop may use it.

    Args:
        client: calls as the principal; stays open.
        root: the prefix of the name of the space of objects; each root has its own conversations.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        root: str = "pydantic-ai",
        sensitivity: Sensitivity | None = None,
    ) -> None:
        self._storage = ObjectStorage(to_sync(client), root, None, sensitivity)
        self._entries = EntryLog(self._storage)
        self._records: Recent[StoredRecord] = Recent()

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return a conversation's record; None if there is none."""
        found = await asyncio.to_thread(self._find, conversation_id)
        return None if found is None else found.record

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return the records of a scope, or all, last saved first; it reads all of them."""
        return await asyncio.to_thread(self._list, scope, limit)

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store entries, then the record, which makes them visible.

        Raises:
            ConversationConflict: the stored revision differs, or an entry that the history
                continues does not exist.
            MemoryCapacityError: there is no room.
        """
        await asyncio.to_thread(self._write, record, new_entries, expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete a record, and its entries that no related fork has.

        Raises:
            ConversationConflict: there is no conversation with this revision.
        """
        await asyncio.to_thread(self._delete, conversation_id, expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return an entry.

        Raises:
            KeyError: there is none.
        """
        return (await asyncio.to_thread(self._entries.read, [entry_id]))[0].entry

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        """Return the entries up to this one in order, or the last of them.

        Raises:
            KeyError: one of them is gone.
        """
        blocks = await asyncio.to_thread(lambda: [*self._entries.walk(head_id, limit)])
        return [stored.entry for block in reversed(blocks) for stored in block]

    def _find(self, conversation_id: str) -> StoredRecord | None:
        found = self._storage.get(build_record_key(conversation_id))
        if found is None:
            return None
        stored = StoredRecord.parse(found.data, found.version)
        self._records.add(stored.record.revision, stored)
        return stored

    def _find_revision(self, conversation_id: str, revision: str | None) -> StoredRecord | None:
        """Find the record of this revision; None for a conversation that isn't stored.

        Raises:
            ConversationConflict: the stored revision differs.
        """
        known = None if revision is None else self._records.get(revision)
        found = known or self._find(conversation_id)
        if (None if found is None else found.record.revision) != revision:
            raise ConversationConflict(conversation_id)
        return found

    def _list(self, scope: str | None, limit: int | None) -> list[ConversationRecord]:
        prefix = RECORDS if scope is None else build_scope_prefix(scope)
        names = (key.rpartition("/")[2] for key in self._storage.list_keys(prefix, _PAGE))
        found = self._storage.get_many(RECORDS + name for name in names)
        records = [StoredRecord.parse(data).record for data in found.values()]
        kept = [each for each in records if scope is None or each.scope == scope]
        return sorted(kept, key=lambda each: each.updated_at, reverse=True)[:limit]

    def _write(
        self,
        record: ConversationRecord,
        new_entries: Sequence[ConversationEntry],
        expected_revision: str | None,
    ) -> None:
        before = self._find_revision(record.conversation_id, expected_revision)
        stored = self._prepare_entries(record, before, new_entries)
        self._storage.run(self._entries.put, stored)
        try:
            if before is None:
                is_sharing = bool(record.forked_from and record.head_id and not new_entries)
                self._create_record(record, record.forked_from if is_sharing else None)
            else:
                self._put_record(StoredRecord(record, before.family, before.version))
        except ConversationConflict:
            self._storage.delete(build_entry_key(each.entry.id) for each in stored)
            raise

    def _prepare_entries(
        self,
        record: ConversationRecord,
        before: StoredRecord | None,
        new_entries: Sequence[ConversationEntry],
    ) -> list[StoredEntry]:
        """Return the new entries with their ancestors.

        Raises:
            ConversationConflict: the entry that they follow, or the history's end, does not exist.
        """
        try:
            stored = [self._entries.prepare(entry) for entry in new_entries]
            known = {None if before is None else before.record.head_id, None}
            if record.head_id not in known | {entry.id for entry in new_entries}:
                self._entries.read([record.head_id or ""])
        except KeyError as gone:
            raise ConversationConflict(record.conversation_id) from gone
        return stored

    def _create_record(self, record: ConversationRecord, source_id: str | None) -> None:
        """Store the record of a new conversation, and list it by scope and family.

        Args:
            source_id: the conversation whose entries it shares.

        Raises:
            ConversationConflict: the id exists, or that conversation does not.
        """
        family = uuid.uuid4().hex if source_id is None else self._join_family(record, source_id)
        if record.scope is not None:
            self._storage.put(_build_scope_key(record), b"")
        self._put_record(StoredRecord(record, family))
        # A deletion of the source deletes its record first, then the entries that no record has. So
        # either the deletion sees the new record, or this call sees that the source is deleted.
        if source_id is not None and not self._is_in_family(source_id, family):
            self._storage.delete([build_record_key(record.conversation_id)])
            raise ConversationConflict(record.conversation_id)

    def _join_family(self, record: ConversationRecord, source_id: str) -> str:
        """List a fork and its source as a family that shares entries; return the family."""
        source = self._find(source_id)
        if source is None:
            raise ConversationConflict(record.conversation_id)
        for each in (source.record, record):
            self._storage.put(_build_member_key(source.family, each), b"")
        return source.family

    def _is_in_family(self, conversation_id: str, family: str) -> bool:
        found = self._find(conversation_id)
        return found is not None and found.family == family

    def _put_record(self, stored: StoredRecord) -> None:
        """Replace the version of a record that was read, or else create the record.

        Raises:
            ConversationConflict: the stored record differs.
        """
        id, version = stored.record.conversation_id, stored.version
        try:
            self._storage.put(
                build_record_key(id),
                stored.render(),
                version=version or None,
                only_new=not version,
            )
        except (MemoryConflictError, MemoryNotFoundError) as refused:
            present = self._find(id)
            if present is None or present.record.revision != stored.record.revision:
                raise ConversationConflict(id) from refused

    def _delete(self, conversation_id: str, expected_revision: str) -> None:
        found = self._find_revision(conversation_id, expected_revision)
        if found is None:
            raise ConversationConflict(conversation_id)
        key = build_record_key(conversation_id)
        self._records.forget(expected_revision)
        try:
            was_there = self._storage.client.objects.delete(
                self._storage.space, key, version=found.version
            )
        except MemoryConflictError as refused:
            raise ConversationConflict(conversation_id) from refused
        if not was_there:
            raise ConversationConflict(conversation_id)
        own = self._collect_ids([found])
        shared = self._collect_ids(self._find_family(found.family))
        self._storage.delete(build_entry_key(id) for id in own - shared)
        listed = [_build_member_key(found.family, found.record)]
        if found.record.scope is not None:
            listed.append(_build_scope_key(found.record))
        self._storage.delete(listed)

    def _find_family(self, family: str) -> list[StoredRecord]:
        """Find the records of a conversation's forks, and of its sources."""
        names = self._storage.list_keys(build_family_prefix(family), _PAGE)
        found = self._storage.get_many(RECORDS + key.rpartition("/")[2] for key in names)
        return [StoredRecord.parse(data) for data in found.values()]

    def _collect_ids(self, records: Iterable[StoredRecord]) -> set[str]:
        """Collect the ids of all entries of conversations, including branches."""
        ids: set[str] = set()
        for record in records:
            for end in record.ends:
                for block in self._entries.walk(end, None):
                    found = {stored.entry.id for stored in block}
                    if found <= ids:
                        break
                    ids |= found
        return ids


def _build_member_key(family: str, record: ConversationRecord) -> str:
    name = build_record_key(record.conversation_id).removeprefix(RECORDS)
    return build_family_prefix(family) + name


def _build_scope_key(record: ConversationRecord) -> str:
    name = build_record_key(record.conversation_id).removeprefix(RECORDS)
    return build_scope_prefix(record.scope or "") + name

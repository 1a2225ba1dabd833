"""Conversations."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.conversations.archive import ConversationArchive
from functions.conversations.archive_files import ArchiveFiles
from functions.conversations.archive_store import ConversationArchiveStore
from functions.conversations.lists import ConversationLists
from functions.conversations.mapper import ConversationMapper
from functions.conversations.message_store import MessageStore
from functions.conversations.messages import Messages
from functions.conversations.orphan_store import OrphanedMessages
from functions.conversations.service import Conversations
from functions.conversations.store import ConversationStore
from functions.conversations.upload_store import UploadStore
from functions.conversations.uploads import Uploads
from functions.platform.values import ValueCodec


class ConversationContainer(FurtherContainer):
    """Makes the services of conversations."""

    @cached_property
    def conversation_mapper(self) -> ConversationMapper:
        return ConversationMapper(ValueCodec(self._common.cipher))

    @cached_property
    def orphaned_messages(self) -> OrphanedMessages:
        return OrphanedMessages(self._common.table, self._common.value_parts)

    @cached_property
    def conversation_store(self) -> ConversationStore:
        return ConversationStore(
            self._common.table, self.conversation_mapper, self._common.value_parts
        )

    @cached_property
    def message_store(self) -> MessageStore:
        return MessageStore(self._common.table, self.conversation_mapper, self._common.value_parts)

    @cached_property
    def conversation_archive_store(self) -> ConversationArchiveStore:
        return ConversationArchiveStore(
            self._common.table, self.message_store, self._common.value_parts
        )

    @cached_property
    def conversation_archive(self) -> ConversationArchive:
        return ConversationArchive(
            self.conversation_archive_store,
            self.conversation_mapper,
            self.orphaned_messages,
            ArchiveFiles(self._common.archive_storage),
            self._common.audit,
            self._common.clock,
        )

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(
            self.conversation_store,
            self.message_store,
            self.uploads,
            self.orphaned_messages,
            self.conversation_archive,
            self._common.audit,
            self._common.clock,
        )

    @cached_property
    def conversation_lists(self) -> ConversationLists:
        return ConversationLists(
            self.conversation_store, self.conversation_archive_store, self._common.clock
        )

    @cached_property
    def messages(self) -> Messages:
        return Messages(
            self.conversation_store, self.message_store, self.orphaned_messages, self._common.clock
        )

    @cached_property
    def uploads(self) -> Uploads:
        store = UploadStore(self._common.table, self.message_store)
        return Uploads(store, self.conversation_store, self._common.clock)

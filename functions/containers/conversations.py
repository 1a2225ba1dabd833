"""Conversations."""

from functions.container import Container
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


class ConversationContainer:
    """Makes the services of conversations."""

    def __init__(self, common: Container) -> None:
        table, parts, audit, clock = common.table, common.value_parts, common.audit, common.clock
        mapper = ConversationMapper(ValueCodec(common.cipher))
        self.orphaned_messages = OrphanedMessages(table, parts)
        self.conversation_store = ConversationStore(table, mapper, parts)
        self.message_store = MessageStore(table, mapper, parts)
        self.conversation_archive_store = ConversationArchiveStore(table, self.message_store, parts)
        self.conversation_archive = ConversationArchive(
            self.conversation_archive_store,
            mapper,
            self.orphaned_messages,
            ArchiveFiles(common.archive_storage),
            audit,
            clock,
        )
        self.uploads = Uploads(
            UploadStore(table, self.message_store), self.conversation_store, clock
        )
        self.conversations = Conversations(
            self.conversation_store,
            self.message_store,
            self.uploads,
            self.orphaned_messages,
            self.conversation_archive,
            audit,
            clock,
        )
        self.conversation_lists = ConversationLists(
            self.conversation_store, self.conversation_archive_store, clock
        )
        self.messages = Messages(
            self.conversation_store, self.message_store, self.orphaned_messages, clock
        )

"""The one composition root: how the services of every function are put together.

An entry point makes one `Container` when its module is imported. Each service is made once, at its
first use; the API touches those of common requests while it starts.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from functions.access.service import AccessExplanations
from functions.audit.service import AuditLog, AuditTrail
from functions.audit.store import AuditStore
from functions.conversations.archive import ConversationArchive
from functions.conversations.archive_files import ArchiveFiles
from functions.conversations.archive_store import ConversationArchiveStore
from functions.conversations.lists import ConversationLists
from functions.conversations.mapper import ConversationMapper
from functions.conversations.message_store import MessageStore
from functions.conversations.messages import Messages
from functions.conversations.orphan_store import OrphanedMessages
from functions.conversations.service import Conversations
from functions.conversations.state_store import StateStore
from functions.conversations.states import States
from functions.conversations.store import ConversationStore
from functions.conversations.upload_store import UploadStore
from functions.conversations.uploads import Uploads
from functions.deletion.principal_data import PrincipalData, Stores
from functions.deletion.service import Deletions
from functions.deletion.store import DeletionStore
from functions.deletion.tombstones import Tombstones
from functions.entries.agent_list import AgentList
from functions.entries.agent_store import AgentStore
from functions.entries.agents import AgentMemory
from functions.entries.archive import TaskArchive
from functions.entries.batch import Batches
from functions.entries.capacity import AccessTracker
from functions.entries.conflicts import ConflictResolver
from functions.entries.context import Contexts
from functions.entries.direct_creates import DirectCreates
from functions.entries.eviction_order import EvictionOrder
from functions.entries.fence import EntryFence
from functions.entries.mapper import EntryMapper
from functions.entries.own_change_store import OwnChangeStore
from functions.entries.query import Queries
from functions.entries.removals import ExpiredEntries, RemovalReasons
from functions.entries.service import Entries
from functions.entries.snapshots import SnapshotStore
from functions.entries.store import EntryStore
from functions.entries.summary import Summaries
from functions.entries.unfinished_creates import UnfinishedCreates
from functions.entries.upserts import Upserts
from functions.entries.writer import EntryWriter
from functions.event_log.event_bus import EventBus, parse_event_types
from functions.event_log.reader import EventLogReader
from functions.event_log.service import EventLogs
from functions.event_log.store import EventLogStore
from functions.facts.service import Facts
from functions.facts.store import FactStore
from functions.identity.authentication import Authentication
from functions.identity.service import Identity
from functions.identity.store import PrincipalStore
from functions.namespaces.prefix_rules import PrefixRules
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceStore
from functions.objects.file_store import ObjectFiles
from functions.objects.reader import ObjectReader
from functions.objects.service import Objects
from functions.objects.spaces import Spaces
from functions.objects.store import ObjectStore
from functions.objects.uploads import ObjectUploads
from functions.openwop.entry_store import MemoryEntryStore
from functions.openwop.garbage_collector import MemoryGarbageCollector
from functions.openwop.memory_secrets import MemorySecrets
from functions.openwop.references import MemoryReferences
from functions.openwop.run_store import MemoryRunStore
from functions.openwop.runs import MemoryRuns
from functions.openwop.secret_store import RunSecretStore
from functions.openwop.sequence_store import SequenceNumbers
from functions.openwop.service import Memories
from functions.platform.archive_storage import ArchiveStorage, S3ArchiveStorage
from functions.platform.aws import create_client, create_lazy_client, translate_aws_errors
from functions.platform.clock import Clock, now_ms
from functions.platform.cursors import Cursors
from functions.platform.deployment_secret import DeploymentSecret, NewerDataError
from functions.platform.digests import Digests
from functions.platform.due_index import DueIndex
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.file_addresses import FileAddresses
from functions.platform.folder_storage import FolderArchiveStorage
from functions.platform.leases import Leases
from functions.platform.observability import logger
from functions.platform.seals import ItemSeals
from functions.platform.settings import Settings, WrongSetting
from functions.platform.table import Table
from functions.platform.used_requests import UsedRequests
from functions.platform.value_parts import ValueParts
from functions.platform.values import ValueCodec
from functions.procedures.service import Procedures
from functions.procedures.store import WorkflowStore
from functions.quotas.service import Quotas
from functions.quotas.store import QuotaStore
from functions.runs.agent_type_store import AgentTypeStore
from functions.runs.agent_types import AgentTypes
from functions.runs.deletion_store import RunDeletionStore
from functions.runs.deletions import RunDeletions
from functions.runs.episode_store import EpisodeStore
from functions.runs.episodes import Episodes
from functions.runs.rules import RunIds
from functions.runs.service import Runs
from functions.runs.store import RunStore
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.search.reembedding import Reembedding
from functions.search.service import Search
from functions.search.store import EmbeddingProgress
from functions.tasks.access import TaskAccess
from functions.tasks.assignment_store import AssignmentStore
from functions.tasks.grant_store import GrantStore
from functions.tasks.grants import Grants
from functions.tasks.guardrail_service import GuardrailService
from functions.tasks.guardrail_store import GuardrailStore
from functions.tasks.intent_store import IntentStore
from functions.tasks.intents import Intents
from functions.tasks.processed_event_store import ProcessedEvents
from functions.tasks.reader import TaskReader
from functions.tasks.registration import TaskRegistration
from functions.tasks.service import Tasks
from functions.tasks.store import TaskStore
from functions.tasks.writer import TaskWriter
from functions.vectors.client_vector_store import ClientVectorStore
from functions.vectors.client_vectors import ClientVectorIndex
from functions.vectors.factory import build_vector_search
from functions.vectors.model import VectorSearch
from functions.vectors.store import VectorStore
from functions.workflows.service import Workflows
from functions.workflows.store import AppliedWorkflowStore
from functions.working_values.service import WorkingValues
from functions.working_values.store import WorkingValueStore

_NO_KEY = "set ENCRYPTION_KEY_FILE or ENCRYPTION_KEY_ID"


class Container:
    """The services of one function, on the tables and keys that its settings name.

    Attributes:
        settings: the function's.
        clock: gives the time in epoch ms.
        table: holds all but the logs.
        log_table: holds the logs.
    """

    def __init__(self, settings: Settings, clock: Clock = now_ms, dynamodb: Any = None) -> None:
        """`dynamodb` is the client of the tables; a new one unless given."""
        dynamodb = dynamodb or create_client("dynamodb")
        self.settings = settings
        self.clock = clock
        held = settings.is_read_only
        self.table = Table(dynamodb, settings.memory_table, self.seals, is_read_only=held)
        self.log_table = Table(dynamodb, settings.log_table, is_read_only=held)

    def build_common_services(self) -> None:
        """Make what nearly every request of the API needs, while the function starts.

        The root key isn't part of it: only an operator's requests and unknown keys need it.

        Raises:
            NewerDataError: a later release has written the data.
        """
        try:
            if self.seals is not None:
                self.seals.prepare()
        except NewerDataError:
            raise
        except Exception as error:  # noqa: BLE001 - the request that needs a key reads it again
            logger.warning("keys", extra={"error": type(error).__name__})
        _ = self.identity, self.entries, self.queries, self.batches, self.tasks
        _ = self.task_reader, self.task_registration

    # Keys and storage

    @cached_property
    def _key_cipher(self) -> Cipher | None:
        """Encrypts under the key that the settings name; None without one."""
        if self.settings.encryption_key_file is not None:
            return Cipher(FileKeys(Path(self.settings.encryption_key_file)))
        if self.settings.encryption_key_id is not None:
            return Cipher(KmsKeys(create_lazy_client("kms"), self.settings.encryption_key_id))
        return None

    @property
    def cipher(self) -> Cipher | None:
        """Encrypts sensitive values; None in functions that open none."""
        return self._key_cipher if self.settings.OPENS_VALUES else None

    @property
    def required_cipher(self) -> Cipher:
        """The cipher, in a function whose settings name a key.

        Raises:
            WrongSetting: the settings name no key.
        """
        if self.cipher is None:
            raise WrongSetting(_NO_KEY)
        return self.cipher

    @cached_property
    def deployment_secret(self) -> DeploymentSecret:
        if self._key_cipher is None:
            raise WrongSetting(_NO_KEY)
        is_maker = self.settings.OPENS_VALUES
        return DeploymentSecret(self.table, self._key_cipher, is_maker=is_maker)

    @cached_property
    def seals(self) -> ItemSeals | None:
        """Prove who wrote items of authority; None in functions that can't read the secret."""
        return None if self._key_cipher is None else ItemSeals(self._derive_key)

    def _derive_key(self, purpose: bytes) -> bytes:
        """Derive the key of a purpose from the deployment's secret, which is read when needed."""
        return self.deployment_secret.derive_key(purpose)

    @cached_property
    def audit(self) -> AuditTrail:
        """Records uses of authority."""
        return AuditTrail(self.clock, self.settings.log_retention_days)

    @cached_property
    def audit_log(self) -> AuditLog:
        return AuditLog(AuditStore(self.table), self.clock)

    @cached_property
    def root_key(self) -> str:
        """The operator's key, read from Secrets Manager where the settings don't hold it.

        Raises:
            Unavailable: Secrets Manager didn't answer.
        """
        if self.settings.root_key is not None:
            return self.settings.root_key
        secret_id = self.settings.root_key_secret_id
        with translate_aws_errors("the store of the root key"):
            secret = create_client("secretsmanager").get_secret_value(SecretId=secret_id)
        return str(secret["SecretString"])

    @cached_property
    def digests(self) -> Digests:
        """Digests what requests say."""
        return Digests(self._derive_key)

    @cached_property
    def cursors(self) -> Cursors:
        """Signs where pages of lists begin."""
        return Cursors(self._derive_key)

    @cached_property
    def archive_storage(self) -> ArchiveStorage | None:
        """Where archives and large objects are: a bucket, a folder, or nowhere."""
        settings = self.settings
        if settings.archive_bucket is not None:
            s3 = create_lazy_client("s3")
            return S3ArchiveStorage(s3, settings.archive_bucket, settings.encryption_key_id)
        return None if settings.archive_folder is None else self.folder_storage

    @cached_property
    def folder_storage(self) -> FolderArchiveStorage:
        """The folder in place of a bucket.

        Raises:
            WrongSetting: the settings name none.
        """
        if self.settings.archive_folder is None:
            raise WrongSetting("set ARCHIVE_FOLDER")
        addresses = FileAddresses(self._derive_key, self.clock)
        folder = Path(self.settings.archive_folder)
        return FolderArchiveStorage(folder, addresses, self.cipher, self.clock)

    # Identity, namespaces, tasks, logs

    @cached_property
    def principal_store(self) -> PrincipalStore:
        return PrincipalStore(self.table)

    @cached_property
    def used_requests(self) -> UsedRequests:
        return UsedRequests(self.table, self.clock)

    @cached_property
    def authentication(self) -> Authentication:
        return Authentication(
            self.principal_store,
            lambda: self.root_key,
            self.clock,
            self.settings.key_cache_seconds,
        )

    @cached_property
    def identity(self) -> Identity:
        return Identity(
            self.principal_store,
            self.audit,
            self._derive_key,
            self.authentication.invalidate_cache,
            self.clock,
        )

    @cached_property
    def namespaces(self) -> Namespaces:
        return Namespaces(self.namespace_store, self.prefix_rules, self.audit, self.clock)

    @cached_property
    def namespace_store(self) -> NamespaceStore:
        return NamespaceStore(self.table)

    @cached_property
    def prefix_rules(self) -> PrefixRules:
        return PrefixRules(self.namespace_store.list_rules, self.clock)

    @cached_property
    def task_store(self) -> TaskStore:
        return TaskStore(self.table)

    @cached_property
    def assignment_store(self) -> AssignmentStore:
        return AssignmentStore(self.table)

    @cached_property
    def agent_memory(self) -> AgentMemory:
        return AgentMemory(
            self.agent_store,
            self.assignment_store,
            self.entry_store,
            self.entry_writer,
            self.unfinished_creates,
            self.audit,
            self.clock,
        )

    @cached_property
    def agent_list(self) -> AgentList:
        return AgentList(
            self.agent_store,
            self.unfinished_creates,
            self.principal_store,
            self.task_access.list_overseen_agents,
        )

    @cached_property
    def task_access(self) -> TaskAccess:
        return TaskAccess(self.task_store, self.assignment_store, self.clock)

    @cached_property
    def intent_store(self) -> IntentStore:
        return IntentStore(self.table)

    @cached_property
    def guardrails(self) -> GuardrailService:
        store = GuardrailStore(self.table)
        return GuardrailService(
            store,
            self.task_store,
            self.assignment_store,
            self.agent_memory.limit_capacity,
            self.audit,
            self.clock,
        )

    @cached_property
    def task_reader(self) -> TaskReader:
        return TaskReader(
            self.task_store,
            self.assignment_store,
            self.intent_store,
            self.task_access,
            self.clock,
        )

    @cached_property
    def task_writer(self) -> TaskWriter:
        return TaskWriter(
            self.task_store, self.guardrails, self.task_archive, self.entry_fence.fence
        )

    @cached_property
    def task_registration(self) -> TaskRegistration:
        return TaskRegistration(
            self.task_store,
            self.intent_store,
            self.task_writer,
            self.principal_store.get_kind,
            self.audit,
            self.clock,
        )

    @cached_property
    def tasks(self) -> Tasks:
        return Tasks(
            self.task_store,
            self.intent_store,
            self.task_writer,
            self.principal_store.get_kind,
            self.audit,
            self.clock,
        )

    @cached_property
    def grants(self) -> Grants:
        store = GrantStore(self.table)
        return Grants(store, self.task_store, self.audit, self.clock)

    @cached_property
    def intents(self) -> Intents:
        return Intents(self.intent_store, self.audit, self.principal_store.get_kind, self.clock)

    @cached_property
    def processed_events(self) -> ProcessedEvents:
        return ProcessedEvents(self.table, self.clock)

    @cached_property
    def log_store(self) -> EventLogStore:
        return EventLogStore(self.log_table, self.clock, self.settings.log_retention_days)

    @cached_property
    def log_reader(self) -> EventLogReader:
        return EventLogReader(self.log_table, self.clock)

    @cached_property
    def event_bus(self) -> EventBus | None:
        """The bus that the settings name, if they do.

        Raises:
            WrongSetting: the settings name a type of event that there isn't.
        """
        name, types = self.settings.event_bus, parse_event_types(self.settings.event_bus_types)
        return None if name is None else EventBus(create_client("events"), name, types)

    @cached_property
    def logs(self) -> EventLogs:
        return EventLogs(self.log_reader, self.intents, self.namespaces)

    # Entries

    @cached_property
    def entry_mapper(self) -> EntryMapper:
        return EntryMapper(self.cipher)

    @cached_property
    def own_change_store(self) -> OwnChangeStore:
        return OwnChangeStore(self.table, self.entry_mapper)

    @cached_property
    def entry_store(self) -> EntryStore:
        return EntryStore(self.table, self.entry_mapper)

    @cached_property
    def agent_store(self) -> AgentStore:
        return AgentStore(self.table)

    @cached_property
    def entry_writer(self) -> EntryWriter:
        return EntryWriter(
            self.table,
            self.entry_mapper,
            self.entry_store,
            ConflictResolver(
                self.entry_store, self.entry_mapper, self.task_store, self.unfinished_creates
            ),
            DirectCreates(self.table, self.entry_mapper, self.unfinished_creates),
            self.audit,
            self.client_vectors,
            self.clock,
        )

    @cached_property
    def unfinished_creates(self) -> UnfinishedCreates:
        return UnfinishedCreates(self.table, self.clock)

    @cached_property
    def access_tracker(self) -> AccessTracker:
        return AccessTracker(self.entry_store, self.agent_store, self.clock)

    @cached_property
    def entries(self) -> Entries:
        return Entries(
            self.entry_store,
            self.own_change_store,
            self.entry_writer,
            self.access_tracker,
            self.task_access,
            self.namespaces,
            self.client_vectors,
            self.clock,
        )

    @cached_property
    def access_explanations(self) -> AccessExplanations:
        return AccessExplanations(
            self.entries,
            self.namespaces,
            self.task_access,
            self.conversations,
            self.identity,
            self.clock,
        )

    @cached_property
    def upserts(self) -> Upserts:
        return Upserts(
            self.entry_store,
            self.own_change_store,
            self.entry_writer,
            self.task_store,
            self.namespaces,
            self.audit,
            self.clock,
        )

    @cached_property
    def queries(self) -> Queries:
        return Queries(
            self.entry_store, self.task_access, self.namespaces, self.access_tracker, self.clock
        )

    @cached_property
    def batches(self) -> Batches:
        return Batches(
            self.entries,
            self.entry_store,
            self.entry_writer,
            self.queries,
            self.namespaces,
            self.clock,
        )

    @cached_property
    def summaries(self) -> Summaries:
        return Summaries(
            self.entry_store,
            self.agent_store,
            self.unfinished_creates,
            self.assignment_store,
            self.task_access,
            self.namespaces,
            self.clock,
        )

    @cached_property
    def eviction_order(self) -> EvictionOrder:
        return EvictionOrder(self.entry_store, self.task_access, self.clock)

    @cached_property
    def contexts(self) -> Contexts:
        return Contexts(self.queries, self.task_access, self.guardrails)

    @cached_property
    def task_archive(self) -> TaskArchive:
        return TaskArchive(
            self.entry_store,
            self.entry_writer,
            SnapshotStore(self.table, self.log_store),
            self.task_store,
            self.log_reader,
            self.settings.log_wait_seconds,
            self.clock,
        )

    @cached_property
    def entry_fence(self) -> EntryFence:
        return EntryFence(self.entry_store, self.task_store)

    @cached_property
    def removal_reasons(self) -> RemovalReasons:
        return RemovalReasons(self.table, self.clock)

    @cached_property
    def expired_entries(self) -> ExpiredEntries:
        return ExpiredEntries(self.entry_writer, self.entry_mapper, self.clock)

    @cached_property
    def leases(self) -> Leases:
        return Leases(self.table, self.clock)

    @cached_property
    def due_index(self) -> DueIndex:
        return DueIndex(self.table)

    @cached_property
    def workflows(self) -> Workflows:
        store = AppliedWorkflowStore(self.table)
        return Workflows(
            store,
            self.namespaces,
            self.agent_memory,
            self.task_registration,
            self.tasks,
            self.task_access,
            self.intents,
            self.audit,
            self.digests,
            self.clock,
        )

    # Search and facts

    @cached_property
    def vector_search(self) -> VectorSearch:
        return build_vector_search(self.settings, self.table, self.clock)

    @cached_property
    def embedding_indexer(self) -> EmbeddingIndexer:
        store = VectorStore(self.table, self.clock, self.vector_search.format)
        return EmbeddingIndexer(store, self.vector_search.embed)

    @cached_property
    def search(self) -> Search:
        return Search(
            self.vector_search,
            self.entry_store,
            self.queries,
            self.task_access,
            self.namespaces,
            (self.client_vectors, ClientVectorIndex(self.client_vectors, self.clock)),
            self.access_tracker,
            self.clock,
        )

    @cached_property
    def client_vectors(self) -> ClientVectorStore:
        return ClientVectorStore(self.table)

    @cached_property
    def facts(self) -> Facts:
        store = FactStore(self.table, self.vector_search.format, self.clock)
        return Facts(store, self.vector_search, self.audit, self.clock)

    @cached_property
    def reembedding(self) -> Reembedding:
        return Reembedding(
            EmbeddingProgress(self.table),
            self.entry_mapper,
            self.embedding_indexer,
            self.facts,
            self.clock,
            self.vector_search.format.name,
        )

    # Runs, procedures, working values

    @cached_property
    def run_ids(self) -> RunIds:
        return RunIds(self._derive_key)

    @cached_property
    def run_store(self) -> RunStore:
        return RunStore(self.table, ValueCodec(self.cipher), self.value_parts, self.run_ids)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.run_store, self.run_ids, self.agent_types, self.clock)

    @cached_property
    def agent_types(self) -> AgentTypes:
        return AgentTypes(AgentTypeStore(self.table), self.clock)

    @cached_property
    def run_deletion_store(self) -> RunDeletionStore:
        return RunDeletionStore(self.table, self.value_parts)

    @cached_property
    def run_deletions(self) -> RunDeletions:
        return RunDeletions(self.run_store, self.run_deletion_store, self.audit, self.clock)

    @cached_property
    def quota_store(self) -> QuotaStore:
        return QuotaStore(self.table, self.clock)

    @cached_property
    def episodes(self) -> Episodes:
        return Episodes(
            EpisodeStore(self.table, ValueCodec(self.cipher)),
            self.run_store,
            self.run_deletion_store,
            Quotas(self.quota_store, self.clock),
            self.clock,
        )

    @cached_property
    def procedures(self) -> Procedures:
        return Procedures(WorkflowStore(self.table), self.clock)

    @cached_property
    def working_values(self) -> WorkingValues:
        return WorkingValues(WorkingValueStore(self.table), self.clock)

    # OpenWOP

    @cached_property
    def memory_references(self) -> MemoryReferences:
        return MemoryReferences(self._derive_key)

    @cached_property
    def memory_run_store(self) -> MemoryRunStore:
        return MemoryRunStore(self.table)

    @cached_property
    def sequence_numbers(self) -> SequenceNumbers:
        return SequenceNumbers(self.table, self.clock)

    @cached_property
    def memory_entry_store(self) -> MemoryEntryStore:
        return MemoryEntryStore(self.table, self.sequence_numbers)

    @cached_property
    def memory_runs(self) -> MemoryRuns:
        return MemoryRuns(
            self.memory_run_store,
            self.sequence_numbers,
            self.memory_secrets,
            self.memory_references,
            self.audit,
            self.clock,
        )

    @cached_property
    def run_secret_store(self) -> RunSecretStore:
        return RunSecretStore(self.table)

    @cached_property
    def memory_secrets(self) -> MemorySecrets:
        edition = self.settings.openwop
        return MemorySecrets(self.run_secret_store, self.required_cipher, edition)

    @cached_property
    def memories(self) -> Memories:
        return Memories(
            self.memory_entry_store,
            self.memory_runs,
            self.memory_secrets,
            self.memory_references,
            self.clock,
        )

    @cached_property
    def memory_garbage_collector(self) -> MemoryGarbageCollector:
        return MemoryGarbageCollector(
            self.memory_run_store, self.memory_entry_store, self.run_secret_store, self.clock
        )

    # Conversations and states

    @cached_property
    def conversation_mapper(self) -> ConversationMapper:
        return ConversationMapper(ValueCodec(self.cipher))

    @cached_property
    def value_parts(self) -> ValueParts:
        return ValueParts(self.table)

    @cached_property
    def orphaned_messages(self) -> OrphanedMessages:
        return OrphanedMessages(self.table, self.value_parts)

    @cached_property
    def conversation_store(self) -> ConversationStore:
        return ConversationStore(self.table, self.conversation_mapper, self.value_parts)

    @cached_property
    def message_store(self) -> MessageStore:
        return MessageStore(self.table, self.conversation_mapper, self.value_parts)

    @cached_property
    def conversation_archive(self) -> ConversationArchive:
        return ConversationArchive(
            ConversationArchiveStore(self.table, self.message_store, self.value_parts),
            self.conversation_mapper,
            self.orphaned_messages,
            ArchiveFiles(self.archive_storage),
            self.audit,
            self.clock,
        )

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(
            self.conversation_store,
            self.message_store,
            self.uploads,
            self.orphaned_messages,
            self.conversation_archive,
            self.audit,
            self.clock,
        )

    @cached_property
    def conversation_lists(self) -> ConversationLists:
        return ConversationLists(self.conversation_store, self.clock)

    @cached_property
    def messages(self) -> Messages:
        return Messages(
            self.conversation_store, self.message_store, self.orphaned_messages, self.clock
        )

    @cached_property
    def uploads(self) -> Uploads:
        store = UploadStore(self.table, self.message_store)
        return Uploads(store, self.conversation_store, self.clock)

    @cached_property
    def states(self) -> States:
        store = StateStore(self.table, ValueCodec(self.cipher), self.value_parts)
        return States(store, self.audit, self.clock)

    # Objects

    @cached_property
    def object_files(self) -> ObjectFiles:
        return ObjectFiles(self.table, self.archive_storage)

    @cached_property
    def object_store(self) -> ObjectStore:
        return ObjectStore(self.table, ValueCodec(self.cipher), self.object_files)

    @cached_property
    def objects(self) -> Objects:
        return Objects(self.object_store, self.audit, self.clock)

    @cached_property
    def object_reader(self) -> ObjectReader:
        return ObjectReader(self.object_store, self.clock)

    @cached_property
    def object_uploads(self) -> ObjectUploads:
        return ObjectUploads(self.objects, self.object_store, self.clock)

    @cached_property
    def spaces(self) -> Spaces:
        return Spaces(self.object_store, self.audit, self.clock)

    # Deletion

    @cached_property
    def deletion_store(self) -> DeletionStore:
        return DeletionStore(self.table, self.log_table, self.archive_storage)

    @cached_property
    def tombstones(self) -> Tombstones:
        return Tombstones(self.deletion_store, self.clock)

    @cached_property
    def deletions(self) -> Deletions:
        stores = Stores(
            self.expired_entries,
            self.conversation_store,
            self.conversation_archive,
            StateStore(self.table, ValueCodec(self.cipher), self.value_parts),
            self.object_store,
            self.run_deletion_store,
            self.memory_entry_store,
            self.memory_run_store,
        )
        return Deletions(
            self.deletion_store,
            PrincipalData(self.deletion_store, stores, self.clock),
            self.identity.revoke,
            self.principal_store.remove_all,
            self.audit,
            self.clock,
        )

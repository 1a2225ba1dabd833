"""The services that most functions and requests need, imported and made at a function's start.

Making them calls nothing and takes 25 us.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from functions.audit.service import AuditLog, AuditTrail
from functions.audit.store import AuditStore
from functions.entries.agent_store import AgentStore
from functions.entries.agents import AgentList, AgentMemory
from functions.entries.archive import SnapshotStore, TaskArchive
from functions.entries.batch import Batches
from functions.entries.capacity import AccessTracker, EvictionOrder
from functions.entries.change import Changes
from functions.entries.conflicts import ConflictResolver
from functions.entries.context import Contexts
from functions.entries.create import Creates
from functions.entries.delete import Deletes, ExpiredEntries, RemovalReasons
from functions.entries.fence import EntryFence
from functions.entries.mapper import EntryMapper
from functions.entries.put import Puts
from functions.entries.query import Queries
from functions.entries.read import EntryReader
from functions.entries.remembering import Remembering
from functions.entries.store import EntryStore
from functions.entries.summary import Summaries
from functions.entries.writer import EntryWriter
from functions.event_log.event_bus import EventBus, parse_event_types
from functions.event_log.reader import EventLogReader
from functions.event_log.service import EventLogs
from functions.event_log.store import EventLogStore
from functions.identity.authentication import Authentication
from functions.identity.person_store import Persons
from functions.identity.service import Identity
from functions.identity.store import PrincipalStore
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceStore, PrefixRules, RestrictionStore
from functions.platform.archive_storage import ArchiveStorage, S3ArchiveStorage
from functions.platform.aws import create_client, create_lazy_client, translate_aws_errors
from functions.platform.clock import Clock, now_ms
from functions.platform.deployment_secret import DeploymentSecret
from functions.platform.due_index import DueIndex
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.file_addresses import FileAddresses
from functions.platform.folder_storage import FolderArchiveStorage
from functions.platform.idempotency import Digests
from functions.platform.leases import Leases
from functions.platform.macs import ItemSeals, SignedTexts
from functions.platform.observability import logger
from functions.platform.settings import Settings, WrongSetting
from functions.platform.staging import Staging
from functions.platform.table import Table
from functions.platform.used_requests import UsedRequests
from functions.tasks.access import TaskAccess, TaskReader
from functions.tasks.grants import Grants
from functions.tasks.guardrail_service import GuardrailService
from functions.tasks.guardrail_store import GuardrailStore
from functions.tasks.intent_store import IntentStore
from functions.tasks.intents import Intents
from functions.tasks.lifecycle_store import AssignmentStore
from functions.tasks.service import Tasks
from functions.tasks.store import GrantStore, ProcessedEvents, TaskStore
from functions.tasks.writer import TaskWriter
from functions.usage.admission import LimitEnforcer, UsageMeter
from functions.usage.store import UsageStore
from functions.vectors.client_vector_store import ClientVectorStore
from functions.workflows.service import Workflows
from functions.workflows.store import AppliedWorkflowStore


class CommonServices:
    """The services that most functions need, on the tables and keys that the settings name.

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
        self.audit = AuditTrail(clock, settings.log_retention_days)
        self.digests = Digests(self.derive_key)
        self.cursors = SignedTexts(self.derive_key, b"agent-memory: cursors of lists")
        self._make_stores()
        self._make_identity()
        self._make_entry_writer()
        self._make_tasks()
        self._make_entries()

    def prepare_seals(self) -> None:
        """Read the deployment's secret, while the function starts.

        The root key isn't read: only an operator's requests and unknown keys need it.
        """
        try:
            if self.seals is not None:
                self.seals.prepare()
        except Exception as error:  # noqa: BLE001 - the request that needs a key reads it again
            logger.warning("keys", extra={"error": type(error).__name__})

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

    @cached_property
    def deployment_secret(self) -> DeploymentSecret:
        if self._key_cipher is None:
            raise WrongSetting("set ENCRYPTION_KEY_FILE or ENCRYPTION_KEY_ID")
        is_maker = self.settings.OPENS_VALUES
        return DeploymentSecret(self.table, self._key_cipher, is_maker=is_maker)

    @cached_property
    def seals(self) -> ItemSeals | None:
        """Prove who wrote items of authority; None in functions that can't read the secret."""
        return None if self._key_cipher is None else ItemSeals(self.derive_key)

    def derive_key(self, purpose: bytes) -> bytes:
        """Derive the key of a purpose from the deployment's secret, which is read when needed."""
        return self.deployment_secret.derive_key(purpose)

    @cached_property
    def root_key(self) -> str:
        """The operator's key, read from Secrets Manager where the settings don't hold it."""
        if self.settings.root_key is not None:
            return self.settings.root_key
        return self.read_secret(self.settings.root_key_secret_id)

    def read_secret(self, id: str | None) -> str:
        """Read a secret from Secrets Manager."""
        with translate_aws_errors("the store of secrets"):
            secret = create_client("secretsmanager").get_secret_value(SecretId=id)
        return str(secret["SecretString"])

    @cached_property
    def archive_storage(self) -> ArchiveStorage | None:
        """Return where archives and large objects are: a bucket, a folder, or nowhere."""
        settings = self.settings
        if settings.archive_bucket is not None:
            s3 = create_lazy_client("s3")
            return S3ArchiveStorage(s3, settings.archive_bucket, settings.encryption_key_id)
        return None if settings.archive_folder is None else self.folder_storage

    @cached_property
    def folder_storage(self) -> FolderArchiveStorage:
        """The folder in place of a bucket."""
        if self.settings.archive_folder is None:
            raise WrongSetting("set ARCHIVE_FOLDER")
        addresses = FileAddresses(self.derive_key, self.clock)
        folder = Path(self.settings.archive_folder)
        return FolderArchiveStorage(folder, addresses, self.cipher, self.clock)

    @cached_property
    def event_bus(self) -> EventBus | None:
        """The bus that the settings name, if they do."""
        name, types = self.settings.event_bus, parse_event_types(self.settings.event_bus_types)
        return None if name is None else EventBus(create_client("events"), name, types)

    def _make_stores(self) -> None:
        table, clock = self.table, self.clock
        self.principal_store = PrincipalStore(table)
        self.namespace_store = NamespaceStore(table)
        self.task_store = TaskStore(table)
        self.assignment_store = AssignmentStore(table)
        self.intent_store = IntentStore(table)
        self.processed_events = ProcessedEvents(table, clock)
        self.entry_mapper = EntryMapper(self.cipher)
        self.entry_store = EntryStore(table, self.entry_mapper)
        self.restriction_store = RestrictionStore(table)
        self.agent_store = AgentStore(table, self.restriction_store)
        self.client_vectors = ClientVectorStore(table)
        self.removal_reasons = RemovalReasons(table, clock)
        self.staging = Staging(table)
        self.usage_store = UsageStore(table, clock)
        self.persons = Persons(table)
        self.usage_meter = UsageMeter(self.usage_store)
        self.limit_enforcer = LimitEnforcer(self.usage_store, self.persons, clock)
        self.used_requests = UsedRequests(table, clock)
        self.leases = Leases(table, clock)
        self.due_index = DueIndex(table)
        self.log_store = EventLogStore(self.log_table, clock, self.settings.log_retention_days)
        self.log_reader = EventLogReader(self.log_table, clock)

    def _make_identity(self) -> None:
        self.audit_log = AuditLog(AuditStore(self.table), self.clock)
        settings = self.settings
        tenant, principal = settings.jwt_tenant_claim, settings.jwt_principal_claim
        self.authentication = Authentication(
            self.principal_store,
            lambda: self.root_key,
            self.clock,
            settings.key_cache_seconds,
            (tenant, principal) if tenant and principal else (),
        )
        self.identity = Identity(
            self.principal_store,
            self.audit,
            self.derive_key,
            self.authentication.invalidate_cache,
            self.clock,
        )
        self.prefix_rules = PrefixRules(self.namespace_store.list_rules, self.clock)
        self.namespaces = Namespaces(
            self.namespace_store, self.restriction_store, self.prefix_rules, self.audit, self.clock
        )

    def _make_entry_writer(self) -> None:
        self.entry_writer = EntryWriter(
            self.table,
            self.entry_mapper,
            self.entry_store,
            ConflictResolver(
                self.entry_store, self.entry_mapper, self.task_store, self.restriction_store
            ),
            self.restriction_store,
            self.audit,
            self.client_vectors,
            self.clock,
        )
        self.expired_entries = ExpiredEntries(self.entry_writer, self.entry_mapper, self.clock)
        self.agent_memory = AgentMemory(
            self.agent_store,
            self.assignment_store,
            self.entry_store,
            self.entry_writer,
            self.audit,
            self.clock,
        )
        self.task_archive = TaskArchive(
            self.entry_store,
            SnapshotStore(self.table, self.log_store),
            self.task_store,
            self.log_reader,
            self.settings.log_wait_seconds,
            self.clock,
        )
        self.entry_fence = EntryFence(self.entry_store, self.task_store)

    def _make_tasks(self) -> None:
        get_kind = self.principal_store.get_kind
        self.task_access = TaskAccess(self.task_store, self.assignment_store, self.clock)
        self.intents = Intents(self.intent_store, self.audit, get_kind, self.clock)
        self.logs = EventLogs(self.log_reader, self.intents, self.namespaces)
        self.guardrails = GuardrailService(
            GuardrailStore(self.table),
            self.task_store,
            self.assignment_store,
            self.audit,
            self.clock,
        )
        self.task_reader = TaskReader(
            self.task_store, self.assignment_store, self.intent_store, self.task_access, self.clock
        )
        writer = self.task_writer = TaskWriter(
            self.task_store, self.guardrails, self.task_archive, self.entry_fence.fence
        )
        self.tasks = Tasks(
            self.task_store, self.intent_store, writer, get_kind, self.audit, self.clock
        )
        self.grants = Grants(GrantStore(self.table), self.task_store, self.audit, self.clock)
        self.workflows = Workflows(
            AppliedWorkflowStore(self.table),
            self.namespaces,
            self.agent_memory,
            self.tasks,
            self.task_access,
            self.intents,
            self.audit,
            self.digests,
            self.clock,
        )

    def _make_entries(self) -> None:
        self.access_tracker = AccessTracker(self.entry_store, self.agent_store, self.clock)
        self.entry_reader = EntryReader(
            self.entry_store,
            self.access_tracker,
            self.task_access,
            self.namespaces,
            self.agent_store,
            self.client_vectors,
            self.clock,
        )
        reader, writer = self.entry_reader, self.entry_writer
        self.creates = Creates(writer, self.namespaces, self.clock)
        self.changes = Changes(reader, self.entry_store, writer, self.clock)
        self.deletes = Deletes(reader, writer, self.clock)
        self.remembering = Remembering(self.creates, self.namespaces, self.digests)
        self.puts = Puts(
            self.entry_store,
            self.entry_writer,
            self.task_store,
            self.namespaces,
            self.audit,
            self.clock,
        )
        self.queries = Queries(self.entry_store, self.task_access, self.namespaces, self.clock)
        self.batches = Batches(
            self.deletes,
            self.entry_store,
            self.entry_writer,
            self.queries,
            self.namespaces,
            self.clock,
        )
        self.summaries = Summaries(
            self.entry_store,
            self.agent_store,
            self.assignment_store,
            self.task_access,
            self.namespaces,
            self.clock,
        )
        self.agent_list = AgentList(
            self.agent_store, self.principal_store, self.task_access.list_overseen_agents
        )
        self.eviction_order = EvictionOrder(self.entry_store, self.task_access, self.clock)
        self.contexts = Contexts(
            self.queries, self.access_tracker, self.task_access, self.guardrails
        )

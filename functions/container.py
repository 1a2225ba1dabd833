"""The composition root: how the services of every function are put together.

An entry point makes one `Container` when its module is imported. What most functions and requests
need is imported with it. All else is named by its module, such as `functions.recall.service`, and
imported at its first use, since importing every package would add 110 ms to a start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from functions.audit.service import AuditLog, AuditTrail
from functions.audit.store import AuditStore
from functions.entries.agent_store import AgentStore
from functions.entries.agents import AgentList, AgentMemory
from functions.entries.archive import TaskArchive
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
from functions.platform.folder_storage import FolderArchiveStorage
from functions.platform.idempotency import Digests
from functions.platform.macs import ItemSeals, SignedTexts
from functions.platform.observability import logger
from functions.platform.settings import Settings, WrongSetting
from functions.platform.staging import Staging
from functions.platform.table import Table
from functions.platform.used_requests import UsedRequests
from functions.platform.values import ValueCodec
from functions.tasks.access import TaskAccess, TaskReader
from functions.tasks.grant_store import GrantStore
from functions.tasks.grants import Grants
from functions.tasks.guardrail_service import GuardrailService
from functions.tasks.guardrail_store import GuardrailStore
from functions.tasks.intent_store import IntentStore
from functions.tasks.intents import Intents
from functions.tasks.lifecycle_store import AssignmentStore
from functions.tasks.service import Tasks
from functions.tasks.store import ProcessedEvents, TaskStore
from functions.usage.admission import LimitEnforcer, UsageMeter
from functions.usage.store import UsageStore
from functions.vectors.client_vector_store import ClientVectorStore
from functions.workflows.service import Workflows
from functions.workflows.store import AppliedWorkflowStore

if TYPE_CHECKING:
    import functions.access.service
    import functions.consolidation.job
    import functions.consolidation.service
    import functions.consolidation.store
    import functions.conversations.archive
    import functions.conversations.archive_store
    import functions.conversations.lists
    import functions.conversations.mapper
    import functions.conversations.message_store
    import functions.conversations.messages
    import functions.conversations.search
    import functions.conversations.service
    import functions.conversations.state_store
    import functions.conversations.states
    import functions.conversations.store
    import functions.conversations.upload_store
    import functions.conversations.uploads
    import functions.deletion.principal_data
    import functions.deletion.service
    import functions.deletion.store
    import functions.deletion.tombstones
    import functions.entries.history
    import functions.entries.history_store
    import functions.facts.service
    import functions.facts.store
    import functions.facts.users
    import functions.learning.budgets
    import functions.learning.entry_target
    import functions.learning.fact_target
    import functions.learning.forgetting
    import functions.learning.language_model
    import functions.learning.learner
    import functions.learning.model
    import functions.learning.service
    import functions.learning.store
    import functions.objects.file_store
    import functions.objects.reader
    import functions.objects.service
    import functions.objects.spaces
    import functions.objects.store
    import functions.objects.uploads
    import functions.openwop.entry_store
    import functions.openwop.ranking
    import functions.openwop.references
    import functions.openwop.run_store
    import functions.openwop.runs
    import functions.openwop.secret_store
    import functions.openwop.sequence_store
    import functions.openwop.service
    import functions.platform.openai_endpoint
    import functions.procedures.service
    import functions.procedures.store
    import functions.recall.forgetting
    import functions.recall.freshness
    import functions.recall.service
    import functions.runs.agent_types
    import functions.runs.deletion_store
    import functions.runs.deletions
    import functions.runs.episodes
    import functions.runs.rules
    import functions.runs.search
    import functions.runs.service
    import functions.runs.store
    import functions.search.embedding_indexer
    import functions.search.reembedding
    import functions.search.service
    import functions.search.store
    import functions.usage.episode_quota
    import functions.usage.reconciliation
    import functions.usage.service
    import functions.vectors.factory
    import functions.vectors.held_texts
    import functions.vectors.store
    import functions.working_values.service
    import functions.working_values.store
else:

    class _Package:
        """Imports a module when it is named."""

        def __init__(self, name):
            self._name = name

        def __getattr__(self, name):
            module = import_module(f"{self._name}.{name}")
            return _Package(module.__name__) if hasattr(module, "__path__") else module

    functions = _Package(__package__)  # an installed service has another name

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A service that is made at its first use, once for all threads."""

    def __init__(self, make: Callable[[Container], T]) -> None:
        self._make = make

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, container: Container, _owner: type) -> T:
        with container.lock:
            if self._name not in vars(container):
                vars(container)[self._name] = self._make(container)
            made: T = vars(container)[self._name]
            return made


class Container:
    """All services of one function, on the tables and keys that its settings name.

    The table of services is in the order of what they need: `c` is the container.

    Attributes:
        settings: the function's.
        clock: gives the time in epoch ms.
        table: holds all but the logs.
        log_table: holds the logs.
        lock: held while a service is made.
    """

    table: Table
    log_table: Table

    def __init__(
        self,
        settings: Settings,
        clock: Clock = now_ms,
        dynamodb: Any = None,
        relays: Mapping[str, str] | None = None,
    ) -> None:
        """`dynamodb` is the client of the tables; a new one unless given.

        `relays` are the Unix sockets that lead to models, by their URLs; others are in the network.
        """
        dynamodb = dynamodb or create_client("dynamodb")
        self._relays = relays or {}
        self.lock = RLock()
        self.settings = settings
        self.clock = clock
        held = settings.is_read_only
        self.table = Table(dynamodb, settings.memory_table, self.seals, is_read_only=held)
        self.log_table = Table(dynamodb, settings.log_table, is_read_only=held)

    def prepare_seals(self) -> None:
        """Read the deployment's secret, while the function starts.

        The root key isn't read: only an operator's requests and unknown keys need it.
        """
        try:
            if self.seals is not None:
                self.seals.prepare()
        except Exception as error:  # noqa: BLE001 - the request that needs a key reads it again
            logger.warning("keys", extra={"error": type(error).__name__})

    @_Lazy
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

    @_Lazy
    def deployment_secret(self) -> DeploymentSecret:
        if self._key_cipher is None:
            raise WrongSetting("set ENCRYPTION_KEY_FILE or ENCRYPTION_KEY_ID")
        is_maker = self.settings.OPENS_VALUES
        return DeploymentSecret(self.table, self._key_cipher, is_maker=is_maker)

    @_Lazy
    def seals(self) -> ItemSeals | None:
        """Prove who wrote items of authority; None in functions that can't read the secret."""
        return None if self._key_cipher is None else ItemSeals(self.derive_key)

    def derive_key(self, purpose: bytes) -> bytes:
        """Derive the key of a purpose from the deployment's secret, which is read when needed."""
        return self.deployment_secret.derive_key(purpose)

    @_Lazy
    def root_key(self) -> str:
        """Get the operator's key, read from Secrets Manager where the settings don't hold it."""
        if self.settings.root_key is not None:
            return self.settings.root_key
        return self.read_secret(self.settings.root_key_secret_id)

    def read_secret(self, id: str | None) -> str:
        """Read a secret from Secrets Manager."""
        with translate_aws_errors("the store of secrets"):
            secret = create_client("secretsmanager").get_secret_value(SecretId=id)
        return str(secret["SecretString"])

    @_Lazy
    def archive_storage(self) -> ArchiveStorage | None:
        """Return where archives and large objects are: a bucket, a folder, or nowhere."""
        settings = self.settings
        if settings.archive_bucket is not None:
            s3 = create_lazy_client("s3")
            return S3ArchiveStorage(s3, settings.archive_bucket, settings.encryption_key_id)
        return None if settings.archive_folder is None else self.folder_storage

    @_Lazy
    def folder_storage(self) -> FolderArchiveStorage:
        """Use a folder in place of a bucket."""
        if self.settings.archive_folder is None:
            raise WrongSetting("set ARCHIVE_FOLDER")
        addresses = SignedTexts(self.derive_key, b"agent-memory: addresses of files")
        folder = Path(self.settings.archive_folder)
        return FolderArchiveStorage(folder, addresses, self.cipher, self.clock)

    @_Lazy
    def event_bus(self) -> EventBus | None:
        """Use the bus that the settings name, if they do."""
        name, types = self.settings.event_bus, parse_event_types(self.settings.event_bus_types)
        return None if name is None else EventBus(create_client("events"), name, types)

    def build_endpoint(
        self, url: str | None, key: str | None, secret_id: str | None, seconds: float
    ) -> functions.platform.openai_endpoint.OpenAiEndpoint | None:
        """Build an endpoint; its key is read from Secrets Manager where no setting holds it."""
        read = cache(lambda: key if secret_id is None else self.read_secret(secret_id))
        endpoints = functions.platform.openai_endpoint
        if url is None:
            return None
        return endpoints.OpenAiEndpoint(url, read, seconds, self._relays.get(url))

    # what all packages use
    audit = _Lazy(lambda c: AuditTrail(c.clock, c.settings.log_retention_days))
    audit_log = _Lazy(lambda c: AuditLog(AuditStore(c.table), c.clock))
    digests = _Lazy(lambda c: Digests(c.derive_key))
    cursors = _Lazy(lambda c: SignedTexts(c.derive_key, b"agent-memory: cursors of lists"))
    staging = _Lazy(lambda c: Staging(c.table))
    used_requests = _Lazy(lambda c: UsedRequests(c.table, c.clock))
    due_index = _Lazy(lambda c: DueIndex(c.table))
    values = _Lazy(lambda c: ValueCodec(c.cipher))

    # principals, namespaces and usage
    principal_store = _Lazy(lambda c: PrincipalStore(c.table))
    persons = _Lazy(lambda c: Persons(c.table))
    authentication = _Lazy(
        lambda c: Authentication(
            c.principal_store,
            lambda: c.root_key,
            c.clock,
            c.settings.key_cache_seconds,
            (c.settings.jwt_tenant_claim, c.settings.jwt_principal_claim)
            if c.settings.jwt_tenant_claim and c.settings.jwt_principal_claim
            else (),
        )
    )
    identity = _Lazy(
        lambda c: Identity(
            c.principal_store, c.audit, c.derive_key, c.authentication.invalidate_cache, c.clock
        )
    )
    restriction_store = _Lazy(lambda c: RestrictionStore(c.table))
    namespace_store = _Lazy(lambda c: NamespaceStore(c.table))
    prefix_rules = _Lazy(lambda c: PrefixRules(c.namespace_store.list_rules, c.clock))
    namespaces = _Lazy(
        lambda c: Namespaces(
            c.namespace_store, c.restriction_store, c.prefix_rules, c.audit, c.clock
        )
    )
    usage_store = _Lazy(lambda c: UsageStore(c.table, c.clock))
    usage_meter = _Lazy(lambda c: UsageMeter(c.usage_store))
    limit_enforcer = _Lazy(lambda c: LimitEnforcer(c.usage_store, c.persons, c.clock))
    limits = _Lazy(
        lambda c: functions.usage.service.LimitService(
            c.usage_store, c.limit_enforcer, c.principal_store.has_tenant, c.audit
        )
    )
    usage_reports = _Lazy(
        lambda c: functions.usage.service.UsageReports(c.usage_store, c.usage_meter, c.clock)
    )

    # tasks, stores of entries, event logs
    task_store = _Lazy(lambda c: TaskStore(c.table))
    assignment_store = _Lazy(lambda c: AssignmentStore(c.table))
    intent_store = _Lazy(lambda c: IntentStore(c.table))
    processed_events = _Lazy(lambda c: ProcessedEvents(c.table, c.clock))
    entry_mapper = _Lazy(lambda c: EntryMapper(c.cipher))
    entry_store = _Lazy(lambda c: EntryStore(c.table, c.entry_mapper))
    agent_store = _Lazy(lambda c: AgentStore(c.table, c.restriction_store))
    client_vectors = _Lazy(lambda c: ClientVectorStore(c.table, c.clock))
    removal_reasons = _Lazy(lambda c: RemovalReasons(c.table, c.clock))
    log_store = _Lazy(lambda c: EventLogStore(c.log_table, c.clock, c.settings.log_retention_days))
    log_reader = _Lazy(lambda c: EventLogReader(c.log_table, c.clock))
    task_access = _Lazy(lambda c: TaskAccess(c.task_store, c.assignment_store, c.clock))
    intents = _Lazy(lambda c: Intents(c.intent_store, c.audit, c.principal_store.get_kind, c.clock))
    logs = _Lazy(lambda c: EventLogs(c.log_reader, c.intents, c.namespaces))
    guardrails = _Lazy(
        lambda c: GuardrailService(
            GuardrailStore(c.table), c.task_store, c.assignment_store, c.audit, c.clock
        )
    )
    task_reader = _Lazy(
        lambda c: TaskReader(
            c.task_store, c.assignment_store, c.intent_store, c.task_access, c.clock
        )
    )

    # entries
    entry_writer = _Lazy(
        lambda c: EntryWriter(
            c.table,
            c.entry_mapper,
            c.entry_store,
            ConflictResolver(c.entry_store, c.entry_mapper, c.task_store, c.restriction_store),
            c.restriction_store,
            c.audit,
            c.client_vectors,
            c.clock,
        )
    )
    expired_entries = _Lazy(lambda c: ExpiredEntries(c.entry_writer, c.entry_mapper, c.clock))
    agent_memory = _Lazy(
        lambda c: AgentMemory(
            c.agent_store, c.assignment_store, c.entry_store, c.entry_writer, c.audit, c.clock
        )
    )
    task_archive = _Lazy(
        lambda c: TaskArchive(
            c.entry_store,
            c.table,
            c.log_store,
            c.task_store,
            c.log_reader,
            c.settings.log_wait_seconds,
            c.clock,
        )
    )
    entry_fence = _Lazy(lambda c: EntryFence(c.entry_store, c.task_store))
    access_tracker = _Lazy(lambda c: AccessTracker(c.entry_store, c.agent_store, c.clock))
    entry_reader = _Lazy(
        lambda c: EntryReader(
            c.entry_store,
            c.access_tracker,
            c.task_access,
            c.namespaces,
            c.agent_store,
            c.client_vectors,
            c.clock,
        )
    )
    creates = _Lazy(lambda c: Creates(c.entry_writer, c.namespaces, c.clock))
    changes = _Lazy(lambda c: Changes(c.entry_reader, c.entry_store, c.entry_writer, c.clock))
    deletes = _Lazy(lambda c: Deletes(c.entry_reader, c.entry_writer, c.clock))
    remembering = _Lazy(lambda c: Remembering(c.creates, c.namespaces, c.digests))
    puts = _Lazy(
        lambda c: Puts(c.entry_store, c.entry_writer, c.task_store, c.namespaces, c.audit, c.clock)
    )
    queries = _Lazy(lambda c: Queries(c.entry_store, c.task_access, c.namespaces, c.clock))
    batches = _Lazy(
        lambda c: Batches(
            c.deletes, c.entry_store, c.entry_writer, c.queries, c.namespaces, c.clock
        )
    )
    summaries = _Lazy(
        lambda c: Summaries(
            c.entry_store, c.agent_store, c.assignment_store, c.task_access, c.namespaces, c.clock
        )
    )
    agent_list = _Lazy(
        lambda c: AgentList(c.agent_store, c.principal_store, c.task_access.list_overseen_agents)
    )
    eviction_order = _Lazy(lambda c: EvictionOrder(c.entry_store, c.task_access, c.clock))
    contexts = _Lazy(lambda c: Contexts(c.queries, c.access_tracker, c.task_access, c.guardrails))
    history_store = _Lazy(
        lambda c: functions.entries.history_store.HistoryStore(c.table, c.entry_mapper)
    )
    history = _Lazy(
        lambda c: functions.entries.history.EntryHistory(
            c.entry_reader,
            c.changes,
            c.queries,
            c.entry_store,
            c.history_store,
            c.agent_store,
            c.namespaces,
            c.clock,
        )
    )

    # tasks
    tasks = _Lazy(
        lambda c: Tasks(
            c.task_store,
            c.intent_store,
            c.guardrails,
            c.task_archive,
            c.entry_fence.fence_at,
            c.principal_store.get_kind,
            c.audit,
            c.clock,
        )
    )
    grants = _Lazy(lambda c: Grants(GrantStore(c.table), c.task_store, c.audit, c.clock))
    workflows = _Lazy(
        lambda c: Workflows(
            AppliedWorkflowStore(c.table),
            c.namespaces,
            c.agent_memory,
            c.tasks,
            c.task_access,
            c.intents,
            c.audit,
            c.digests,
            c.clock,
        )
    )

    # conversations
    conversation_mapper = _Lazy(
        lambda c: functions.conversations.mapper.ConversationMapper(c.values)
    )
    conversation_store = _Lazy(
        lambda c: functions.conversations.store.ConversationStore(
            c.table, c.conversation_mapper, c.staging
        )
    )
    message_store = _Lazy(
        lambda c: functions.conversations.message_store.MessageStore(
            c.table, c.conversation_mapper, c.staging
        )
    )
    conversation_archive_store = _Lazy(
        lambda c: functions.conversations.archive_store.ConversationArchiveStore(
            c.table, c.message_store, c.staging
        )
    )
    conversation_archive = _Lazy(
        lambda c: functions.conversations.archive.ConversationArchive(
            c.conversation_archive_store,
            c.conversation_mapper,
            c.staging,
            functions.conversations.archive_store.ArchiveFiles(c.archive_storage),
            c.audit,
            c.clock,
        )
    )
    uploads = _Lazy(
        lambda c: functions.conversations.uploads.Uploads(
            functions.conversations.upload_store.UploadStore(c.table, c.message_store),
            c.conversation_store,
            c.clock,
        )
    )
    conversations = _Lazy(
        lambda c: functions.conversations.service.Conversations(
            c.conversation_store,
            c.message_store,
            c.uploads,
            c.staging,
            c.conversation_archive,
            c.audit,
            c.clock,
        )
    )
    conversation_lists = _Lazy(
        lambda c: functions.conversations.lists.ConversationLists(
            c.conversation_store, c.conversation_archive_store, c.clock
        )
    )
    messages = _Lazy(
        lambda c: functions.conversations.messages.Messages(
            c.conversation_store, c.message_store, c.audit, c.clock, c.principal_store.get_many
        )
    )
    state_store = _Lazy(
        lambda c: functions.conversations.state_store.StateStore(c.table, c.values, c.staging)
    )
    states = _Lazy(lambda c: functions.conversations.states.States(c.state_store, c.audit, c.clock))
    access_explanations = _Lazy(
        lambda c: functions.access.service.AccessExplanations(
            c.entry_reader, c.namespaces, c.task_access, c.conversations, c.identity, c.clock
        )
    )

    # objects
    object_files = _Lazy(
        lambda c: functions.objects.file_store.ObjectFiles(c.table, c.archive_storage)
    )
    object_store = _Lazy(
        lambda c: functions.objects.store.ObjectStore(c.table, c.values, c.object_files)
    )
    objects = _Lazy(lambda c: functions.objects.service.Objects(c.object_store, c.audit, c.clock))
    object_reader = _Lazy(
        lambda c: functions.objects.reader.ObjectReader(c.object_store, c.object_files, c.clock)
    )
    object_uploads = _Lazy(
        lambda c: functions.objects.uploads.ObjectUploads(
            c.objects, c.object_store, c.object_files, c.clock
        )
    )
    spaces = _Lazy(lambda c: functions.objects.spaces.Spaces(c.object_store, c.audit, c.clock))

    # OpenWOP memories
    memory_references = _Lazy(lambda c: functions.openwop.references.MemoryReferences(c.derive_key))
    sequence_numbers = _Lazy(
        lambda c: functions.openwop.sequence_store.SequenceNumbers(c.table, c.clock)
    )
    memory_run_store = _Lazy(lambda c: functions.openwop.run_store.MemoryRunStore(c.table))
    memory_entry_store = _Lazy(
        lambda c: functions.openwop.entry_store.MemoryEntryStore(c.table, c.sequence_numbers)
    )
    memory_list_store = _Lazy(lambda c: functions.openwop.sequence_store.MemoryListStore(c.table))
    memory_secrets = _Lazy(
        lambda c: functions.openwop.secret_store.MemorySecrets(
            c.table, c.values, c.settings.openwop
        )
    )
    memory_runs = _Lazy(
        lambda c: functions.openwop.runs.MemoryRuns(
            c.memory_run_store,
            c.memory_list_store,
            c.sequence_numbers,
            c.memory_secrets,
            c.memory_references,
            c.audit,
            c.clock,
        )
    )
    memories = _Lazy(
        lambda c: functions.openwop.service.Memories(
            c.memory_entry_store,
            c.memory_runs,
            c.memory_secrets,
            c.memory_references,
            c.audit,
            c.clock,
        )
    )

    # runs, procedures and working values
    run_ids = _Lazy(lambda c: functions.runs.rules.RunIds(c.derive_key))
    run_store = _Lazy(
        lambda c: functions.runs.store.RunStore(c.table, c.values, c.staging, c.run_ids)
    )
    agent_types = _Lazy(
        lambda c: functions.runs.agent_types.AgentTypes(
            functions.runs.store.AgentTypeStore(c.table), c.clock
        )
    )
    runs = _Lazy(
        lambda c: functions.runs.service.Runs(
            c.run_store, c.run_ids, c.agent_types, c.audit, c.clock
        )
    )
    run_deletion_store = _Lazy(
        lambda c: functions.runs.deletion_store.RunDeletionStore(c.table, c.staging)
    )
    run_deletions = _Lazy(
        lambda c: functions.runs.deletions.RunDeletions(
            c.run_store, c.run_deletion_store, c.audit, c.clock
        )
    )
    episode_store = _Lazy(lambda c: functions.runs.store.EpisodeStore(c.table, c.values))
    episodes = _Lazy(
        lambda c: functions.runs.episodes.Episodes(
            c.episode_store,
            c.run_store,
            c.run_deletion_store,
            functions.usage.episode_quota.EpisodeQuota(c.usage_store, c.clock),
            c.audit,
            c.clock,
        )
    )
    procedures = _Lazy(
        lambda c: functions.procedures.service.Procedures(
            functions.procedures.store.WorkflowStore(c.table), c.audit, c.clock
        )
    )
    working_values = _Lazy(
        lambda c: functions.working_values.service.WorkingValues(
            functions.working_values.store.WorkingValueStore(c.table), c.clock
        )
    )

    # vectors and facts
    embedding_endpoint = _Lazy(
        lambda c: c.build_endpoint(
            c.settings.embedding_url,
            c.settings.embedding_key,
            c.settings.embedding_key_secret_id,
            10,
        )
    )
    vector_search = _Lazy(
        lambda c: functions.vectors.factory.build_vector_search(
            c.settings, c.table, c.clock, c.embedding_endpoint
        )
    )
    embedding_indexer = _Lazy(
        lambda c: functions.search.embedding_indexer.EmbeddingIndexer(
            functions.vectors.store.VectorStore(c.table, c.clock, c.vector_search.format),
            c.vector_search.embed,
        )
    )
    fact_store = _Lazy(
        lambda c: functions.facts.store.FactStore(c.table, c.vector_search.format, c.clock)
    )
    fact_chains = _Lazy(lambda c: functions.facts.store.FactChainStore(c.table, c.fact_store))
    fact_users = _Lazy(lambda c: functions.facts.users.UserAccess(c.namespaces))
    facts = _Lazy(
        lambda c: functions.facts.service.Facts(
            c.fact_store, c.fact_chains, c.vector_search, c.audit, c.fact_users, c.clock
        )
    )
    consolidation_store = _Lazy(
        lambda c: functions.consolidation.store.ConsolidationStore(c.table, c.fact_store, c.clock)
    )
    consolidator = _Lazy(
        lambda c: functions.consolidation.job.Consolidator(
            c.consolidation_store, c.fact_store, c.fact_chains, c.audit, c.clock
        )
    )
    consolidation = _Lazy(
        lambda c: functions.consolidation.service.Consolidation(
            c.consolidation_store, c.consolidator, c.fact_store, c.fact_users, c.audit, c.clock
        )
    )
    reembedding = _Lazy(
        lambda c: functions.search.reembedding.Reembedding(
            functions.search.store.EmbeddingProgress(c.table),
            c.entry_mapper,
            c.embedding_indexer,
            c.facts,
            c.clock,
            c.vector_search.format.name,
        )
    )
    reconciler = _Lazy(
        lambda c: functions.usage.reconciliation.Reconciler(
            c.usage_store, c.consolidation_store.schedule, c.clock
        )
    )

    # search and recall
    memory_ranking = _Lazy(lambda c: functions.openwop.ranking.EntryRanking(c.vector_search))
    search = _Lazy(
        lambda c: functions.search.service.Search(
            c.vector_search,
            functions.vectors.held_texts.HeldTexts(c.vector_search.embed),
            c.entry_store,
            c.queries,
            c.task_access,
            c.namespaces,
            c.client_vectors,
            c.access_tracker,
            c.clock,
        )
    )
    conversation_search = _Lazy(
        lambda c: functions.conversations.search.ConversationSearch(
            c.conversation_store,
            c.conversation_lists,
            functions.conversations.search.HeldMessages(c.message_store, c.vector_search.embed),
            c.vector_search.embed_query,
            c.clock,
            bool(c.settings.searchable_conversations),
        )
    )
    episode_search = _Lazy(
        lambda c: functions.runs.search.EpisodeSearch(
            c.episode_store,
            c.agent_types,
            c.vector_search,
            c.clock,
        )
    )
    recall = _Lazy(
        lambda c: functions.recall.service.RecallService(
            c.search,
            c.entry_reader,
            c.facts,
            c.conversation_search,
            c.conversations,
            c.episode_search,
            c.episodes,
            functions.recall.freshness.Freshness(
                c.queries, c.embedding_indexer if c.vector_search.can_embed else None, c.clock
            ),
            c.clock,
        )
    )
    user_forgetting = _Lazy(
        lambda c: functions.recall.forgetting.UserForgetting(
            c.namespaces,
            c.batches,
            c.facts,
            (c.conversation_lists, c.conversations, c.conversation_archive),
            (c.persons, c.states),
            (c.spaces, c.objects),
            c.audit,
            c.audit_log,
        )
    )

    # deletion
    deletion_store = _Lazy(
        lambda c: functions.deletion.store.DeletionStore(c.table, c.log_table, c.archive_storage)
    )
    tombstones = _Lazy(
        lambda c: functions.deletion.tombstones.Tombstones(c.deletion_store, c.clock)
    )
    deletions = _Lazy(
        lambda c: functions.deletion.service.Deletions(
            c.deletion_store,
            functions.deletion.principal_data.PrincipalData(
                c.deletion_store,
                functions.deletion.principal_data.Stores(
                    c.expired_entries,
                    c.conversation_store,
                    c.conversation_archive,
                    c.state_store,
                    c.object_store,
                    c.run_deletion_store,
                    c.memory_entry_store,
                    c.memory_run_store,
                    c.memory_list_store,
                    c.namespaces,
                ),
                c.clock,
            ),
            c.identity.revoke,
            c.principal_store.remove_all,
            c.limits,
            c.persons,
            c.audit,
            c.clock,
        )
    )

    # learning
    position_store = _Lazy(lambda c: functions.learning.store.PositionStore(c.table))
    strategy_store = _Lazy(lambda c: functions.learning.store.StrategyStore(c.table))
    learned_store = _Lazy(lambda c: functions.learning.store.LearnedStore(c.table))
    budgets = _Lazy(
        lambda c: functions.learning.budgets.Budgets(
            c.strategy_store,
            functions.learning.model.Usage(
                c.settings.learning_tokens_per_day, c.settings.learning_requests_per_day
            ),
            c.limits.get,
            c.clock,
        )
    )
    strategies = _Lazy(
        lambda c: functions.learning.service.Strategies(
            c.strategy_store,
            c.position_store,
            c.budgets,
            c.settings.learning_models,
            c.audit,
            c.clock,
        )
    )
    forgetting = _Lazy(
        lambda c: functions.learning.forgetting.Forgetting(
            c.table,
            c.conversation_store,
            c.message_store,
            c.learned_store,
            c.fact_store,
            c.entry_store,
            c.entry_mapper,
            c.clock,
        )
    )
    learning_endpoint = _Lazy(
        lambda c: c.build_endpoint(
            c.settings.learning_url, c.settings.learning_key, c.settings.learning_key_secret_id, 60
        )
    )

    @_Lazy
    def language_model(self) -> functions.learning.language_model.LanguageModel:
        """Use the endpoint that learns: OpenAI-compatible, or Bedrock."""
        models = functions.learning.language_model
        endpoint = self.learning_endpoint
        if endpoint is not None and self.settings.learning_models[0].startswith("openai:"):
            return partial(models.ask_openai, endpoint)
        client = create_lazy_client("bedrock-runtime", read_timeout=60)
        return partial(models.ask_bedrock, client)

    learned_facts = _Lazy(
        lambda c: functions.learning.fact_target.LearnedFacts(
            c.fact_store, c.fact_chains, c.learned_store, c.vector_search
        )
    )
    learned_entries = _Lazy(
        lambda c: functions.learning.entry_target.LearnedEntries(
            c.entry_store, c.entry_mapper, c.namespace_store, c.learned_store
        )
    )
    learner = _Lazy(
        lambda c: functions.learning.learner.Learner(
            c.table,
            c.strategy_store,
            c.position_store,
            c.budgets,
            c.conversation_store,
            c.namespaces,
            c.message_store,
            c.settings.learning_models,
            c.language_model,
            {
                "facts": c.learned_facts,
                "preferences": c.learned_entries,
                "summary": c.learned_entries,
                "episodes": c.learned_entries,
            },
            c.clock,
        )
    )

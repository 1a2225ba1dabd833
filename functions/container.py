"""The composition root: build the services of every function.

An entry point makes one `Container` when its module is imported. What most functions and requests
need is imported with it. Other packages are named by their module, such as
`functions.recall.service`, and imported at first use: all of them take 110 ms.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from functions.audit.service import AuditLog, AuditTrail
from functions.entries.agents import AgentList, AgentMemory
from functions.entries.archive import TaskArchive
from functions.entries.batch import Batches
from functions.entries.capacity import AccessTracker, EvictionOrder
from functions.entries.change import Changes
from functions.entries.context import Contexts
from functions.entries.create import Creates
from functions.entries.delete import Deletes, ExpiredEntries, RemovalReasons
from functions.entries.fence import EntryFence
from functions.entries.put import Puts
from functions.entries.query import Queries
from functions.entries.read import EntryReader
from functions.entries.remembering import Remembering
from functions.entries.summary import Summaries
from functions.events.event_bus import EventBus, parse_event_types
from functions.events.service import EventLogs
from functions.events.store import EventLogStore
from functions.identity.authentication import Authentication
from functions.identity.service import Principals
from functions.identity.store import Persons, PrincipalStore
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceStore
from functions.platform.archive_storage import (
    ArchiveStorage,
    FolderArchiveStorage,
    S3ArchiveStorage,
)
from functions.platform.aws import LazyClient, create_client, translate_aws_errors
from functions.platform.clock import Clock, now_ms
from functions.platform.deployment_secret import DeploymentSecret
from functions.platform.due_index import DueIndex
from functions.platform.encryption import Cipher, FileKeys, KmsKeys
from functions.platform.idempotency import Digests
from functions.platform.macs import ItemSeals, SignedTexts
from functions.platform.observability import logger
from functions.platform.settings import Settings, WrongSetting
from functions.platform.staging import Staging
from functions.platform.table import Table
from functions.platform.used_requests import UsedRequests
from functions.tasks.access import TaskAccess, TaskReader
from functions.tasks.grants import Grants
from functions.tasks.guardrails import GuardrailService
from functions.tasks.intents import Intents
from functions.tasks.service import Tasks
from functions.tasks.store import ProcessedEvents, TaskStore
from functions.usage.admission import LimitEnforcer, UsageMeter
from functions.usage.store import UsageStore
from functions.vectors.client_vector_store import ClientVectorStore
from functions.workflows.service import Workflows

if TYPE_CHECKING:
    import functions.access.service
    import functions.consolidation.job
    import functions.consolidation.service
    import functions.consolidation.store
    import functions.conversations.archive
    import functions.conversations.lists
    import functions.conversations.message_store
    import functions.conversations.messages
    import functions.conversations.service
    import functions.conversations.states
    import functions.deletions.deleted_owners
    import functions.deletions.service
    import functions.deletions.store
    import functions.entries.history
    import functions.entries.history_store
    import functions.facts.service
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
    import functions.objects.uploads
    import functions.openwop.entry_store
    import functions.openwop.ranking
    import functions.openwop.rules
    import functions.openwop.runs
    import functions.openwop.secret_store
    import functions.openwop.service
    import functions.platform.openai_endpoint
    import functions.procedures.service
    import functions.recall.forgetting
    import functions.recall.service
    import functions.runs.agent_type_store
    import functions.runs.deletion_store
    import functions.runs.deletions
    import functions.runs.service
    import functions.search.embedding_indexer
    import functions.search.reembedding
    import functions.search.service
    import functions.usage.reconciliation
    import functions.usage.service
    import functions.vectors.factory
    import functions.vectors.hybrid
    import functions.working_values.service
else:

    class _Package:
        """Imports a module when it is named."""

        def __init__(self, name):
            self._name = name

        def __getattr__(self, name):
            module = import_module(f"{self._name}.{name}")
            return _Package(module.__name__) if hasattr(module, "__path__") else module

    functions = _Package(__package__)  # an installed service has another package name

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A part of the container that is made at its first use, once for all threads."""

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

    A service is made at its first use, together with the services that it needs: each parameter of
    its constructor, such as `store: TaskStore`, gets the service of that type, unless `_ARGUMENTS`
    has the parameter.

    Attributes:
        lock: held while a service is made.
    """

    table: Table
    log_table: Table

    # what all packages use
    audit: AuditTrail
    audit_log: AuditLog
    digests: Digests
    staging: Staging
    used_requests: UsedRequests
    due_index: DueIndex

    # principals, namespaces and usage
    principal_store: PrincipalStore
    persons: Persons
    authentication: Authentication
    principals: Principals
    namespace_store: NamespaceStore
    namespaces: Namespaces
    usage_store: UsageStore
    usage_meter: UsageMeter
    limit_enforcer: LimitEnforcer
    limits: functions.usage.service.LimitService
    usage_reports: functions.usage.service.UsageReports

    # tasks and logs
    task_store: TaskStore
    processed_events: ProcessedEvents
    client_vectors: ClientVectorStore
    removal_reasons: RemovalReasons
    event_log_store: EventLogStore
    task_access: TaskAccess
    intents: Intents
    events: EventLogs
    guardrails: GuardrailService
    task_reader: TaskReader

    # entries
    expired_entries: ExpiredEntries
    agent_memory: AgentMemory
    task_archive: TaskArchive
    entry_fence: EntryFence
    access_tracker: AccessTracker
    entry_reader: EntryReader
    creates: Creates
    changes: Changes
    deletes: Deletes
    remembering: Remembering
    puts: Puts
    queries: Queries
    batches: Batches
    summaries: Summaries
    agent_list: AgentList
    eviction_order: EvictionOrder
    contexts: Contexts
    history_store: functions.entries.history_store.HistoryStore
    history: functions.entries.history.EntryHistory

    # tasks and workflows
    tasks: Tasks
    grants: Grants
    workflows: Workflows

    # conversations
    message_store: functions.conversations.message_store.MessageStore
    conversation_archive: functions.conversations.archive.ConversationArchive
    conversations: functions.conversations.service.Conversations
    conversation_lists: functions.conversations.lists.ConversationLists
    messages: functions.conversations.messages.Messages
    states: functions.conversations.states.States
    access_explanations: functions.access.service.AccessExplanations

    # objects
    object_files: functions.objects.file_store.ObjectFiles
    objects: functions.objects.service.Objects
    object_reader: functions.objects.reader.ObjectReader
    object_uploads: functions.objects.uploads.ObjectUploads
    spaces: functions.objects.spaces.Spaces

    # OpenWOP memories
    memory_references: functions.openwop.rules.MemoryReferences
    memory_entry_store: functions.openwop.entry_store.MemoryEntryStore
    memory_secrets: functions.openwop.secret_store.MemorySecrets
    memory_runs: functions.openwop.runs.MemoryRuns
    memories: functions.openwop.service.Memories

    # runs, procedures and working values
    agent_types: functions.runs.agent_type_store.AgentTypes
    runs: functions.runs.service.Runs
    run_deletion_store: functions.runs.deletion_store.RunDeletionStore
    run_deletions: functions.runs.deletions.RunDeletions
    episodes: functions.runs.service.Episodes
    procedures: functions.procedures.service.Procedures
    working_values: functions.working_values.service.WorkingValues

    # facts, search and recall
    embedding_indexer: functions.search.embedding_indexer.EmbeddingIndexer
    facts: functions.facts.service.Facts
    consolidation_store: functions.consolidation.store.ConsolidationStore
    consolidator: functions.consolidation.job.Consolidator
    consolidation: functions.consolidation.service.Consolidation
    reembedding: functions.search.reembedding.Reembedding
    reconciler: functions.usage.reconciliation.Reconciler
    memory_ranking: functions.openwop.ranking.EntryRanking
    search: functions.search.service.Search
    recall: functions.recall.service.RecallService
    user_forgetting: functions.recall.forgetting.UserForgetting

    # deletion
    deletion_store: functions.deletions.store.DeletionStore
    deleted_owners: functions.deletions.deleted_owners.DeletedOwners
    deletions: functions.deletions.service.Deletions

    # learning
    learning_store: functions.learning.store.LearningStore
    strategies: functions.learning.service.Strategies
    forgetting: functions.learning.forgetting.Forgetting
    learned_facts: functions.learning.fact_target.LearnedFacts
    learned_entries: functions.learning.entry_target.LearnedEntries
    learner: functions.learning.learner.Learner

    def __init__(
        self,
        settings: Settings,
        clock: Clock = now_ms,
        dynamodb: Any = None,
        relays: Mapping[str, str] | None = None,
    ) -> None:
        """`dynamodb` is the client of the tables; a new one unless given.

        `relays` maps the URLs of models to Unix sockets; other models are called by network.
        """
        dynamodb = dynamodb or create_client("dynamodb")
        self._relays = relays or {}
        self.lock = RLock()
        self._services: dict[type, Any] = {}
        self.settings = settings
        self.clock = clock
        held = settings.is_read_only
        self.table = Table(dynamodb, settings.memory_table, self.seals, is_read_only=held)
        self.log_table = Table(dynamodb, settings.log_table, is_read_only=held)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Make the service that is declared under a name."""
            if name not in Container.__annotations__:
                raise AttributeError(name)
            declared = attrgetter(Container.__annotations__[name])(sys.modules[__name__])
            service = vars(self)[name] = self.get(declared)
            return service

    def get(self, service: type[T]) -> T:
        """Return the service of a type, once for all threads."""
        with self.lock:
            if service not in self._services:
                self._services[service] = self._make(service)
            made: T = self._services[service]
            return made

    def _make(self, service: type[T]) -> T:
        needed: dict[str, Any] = {}
        for parameter, type_ in service.__init__.__annotations__.items():
            if parameter != "return":
                name = parameter.lstrip("_")
                find = _ARGUMENTS.get(f"{service.__name__}.{name}") or _ARGUMENTS.get(name)
                needed[parameter] = self.get(type_) if find is None else find(self)
        return service(**needed)

    def prepare_seals(self) -> None:
        """Read the deployment's secret, while the function starts.

        The root key isn't read yet: only an operator's requests and unknown keys need it.
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
            return Cipher(KmsKeys(LazyClient("kms"), self.settings.encryption_key_id))
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
        """Get the operator's key: from the settings, else from Secrets Manager."""
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
            s3 = LazyClient("s3")
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
        """Use the event bus of the settings; None without one."""
        name, types = self.settings.event_bus, parse_event_types(self.settings.event_bus_types)
        return None if name is None else EventBus(create_client("events"), name, types)

    def _build_endpoint(
        self, url: str | None, key: str | None, secret_id: str | None, seconds: float
    ) -> functions.platform.openai_endpoint.OpenAiEndpoint | None:
        """Build an endpoint; its key is in the settings, else in Secrets Manager."""
        read = cache(lambda: key if secret_id is None else self.read_secret(secret_id))
        endpoints = functions.platform.openai_endpoint
        if url is None:
            return None
        return endpoints.OpenAiEndpoint(url, read, seconds, self._relays.get(url))

    @_Lazy
    def cursors(self) -> SignedTexts:
        return SignedTexts(self.derive_key, b"agent-memory: cursors of lists")

    @_Lazy
    def vector_search(self) -> functions.vectors.hybrid.VectorSearch:
        """Use the embedding model and the index that the settings name."""
        settings = self.settings
        key, secret_id = settings.embedding_key, settings.embedding_key_secret_id
        endpoint = self._build_endpoint(settings.embedding_url, key, secret_id, 10)
        build = functions.vectors.factory.build_vector_search
        return build(settings, self.table, self.clock, endpoint)

    @_Lazy
    def language_model(self) -> functions.learning.language_model.LanguageModel:
        """Use the endpoint that learns: OpenAI-compatible, or Bedrock."""
        settings, models = self.settings, functions.learning.language_model
        key, secret_id = settings.learning_key, settings.learning_key_secret_id
        endpoint = self._build_endpoint(settings.learning_url, key, secret_id, 60)
        if endpoint is not None and settings.learning_models[0].startswith("openai:"):
            return partial(models.ask_openai, endpoint)
        client = LazyClient("bedrock-runtime", read_timeout=60)
        return partial(models.ask_bedrock, client)


_ARGUMENTS: dict[str, Callable[[Container], Any]] = {
    "archive_storage": lambda c: c.archive_storage,
    "cipher": lambda c: c.cipher,
    "clock": lambda c: c.clock,
    "derive_key": lambda c: c.derive_key,
    "embed": lambda c: c.vector_search.embed,
    "has_tenant": lambda c: c.principal_store.has_tenant,
    "kind_of": lambda c: c.principal_store.get_kind,
    "models": lambda c: c.settings.learning_models,
    "retention_days": lambda c: c.settings.log_retention_days,
    "table": lambda c: c.table,
    "vector_format": lambda c: c.vector_search.format,
    "vector_search": lambda c: c.vector_search,
    "AgentList.list_overseen": lambda c: c.task_access.list_overseen_agents,
    "Authentication.root_key": lambda c: lambda: c.root_key,
    "Authentication.cache_seconds": lambda c: c.settings.key_cache_seconds,
    "Authentication.claims": lambda c: (
        (c.settings.jwt_tenant_claim, c.settings.jwt_principal_claim)
        if c.settings.jwt_tenant_claim and c.settings.jwt_principal_claim
        else ()
    ),
    "Budgets.limit": lambda c: functions.learning.model.Usage(
        c.settings.learning_tokens_per_day, c.settings.learning_requests_per_day
    ),
    "Budgets.get_limits": lambda c: c.limits.get,
    "ConversationSearch.embed_query": lambda c: c.vector_search.embed_query,
    "ConversationSearch.is_searchable": lambda c: bool(c.settings.searchable_conversations),
    "DeletionStore.memory": lambda c: c.table,
    "DeletionStore.log": lambda c: c.log_table,
    "Deletions.revoke": lambda c: c.principals.revoke,
    "Deletions.remove_principals": lambda c: c.principal_store.remove_all,
    "EventLogReader.table": lambda c: c.log_table,
    "EventLogStore.table": lambda c: c.log_table,
    "Freshness.indexer": lambda c: c.embedding_indexer if c.vector_search.can_embed else None,
    "Principals.derive_secret": lambda c: c.derive_key,
    "Principals.invalidate_cache": lambda c: c.authentication.invalidate_cache,
    "Learner.ask_model": lambda c: c.language_model,
    "Learner.targets": lambda c: {
        "facts": c.learned_facts,
        **dict.fromkeys(("preferences", "summary", "episodes"), c.learned_entries),
    },
    "MemorySecrets.edition": lambda c: c.settings.openwop,
    "Messages.get_principals": lambda c: c.principal_store.get_many,
    "PrefixRules.read": lambda c: c.namespace_store.list_rules,
    "Reconciler.notice_facts": lambda c: c.consolidation_store.schedule,
    "Reembedding.format_name": lambda c: c.vector_search.format.name,
    "TaskArchive.log_wait_seconds": lambda c: c.settings.log_wait_seconds,
    "Tasks.archive": lambda c: c.task_archive,
    "Tasks.fence_entries": lambda c: c.entry_fence.fence_at,
    "UserForgetting.conversations": lambda c: (
        c.conversation_lists,
        c.conversations,
        c.conversation_archive,
    ),
    "UserForgetting.states": lambda c: (c.persons, c.states),
    "UserForgetting.objects": lambda c: (c.spaces, c.objects),
}
"""Arguments that aren't found by their type: by parameter, or by class and parameter."""

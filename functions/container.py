"""The composition root: how the services of every function are put together.

An entry point makes one `Container` when its module is imported. Most functions and requests need
the `CommonServices`. All others are imported and made at their first use, since importing every
package would add 110 ms to a start.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

from functions.common_services import CommonServices
from functions.platform.aws import create_lazy_client
from functions.platform.values import ValueCodec

if TYPE_CHECKING:
    from functions.access.service import AccessExplanations
    from functions.consolidation.job import Consolidator
    from functions.consolidation.service import Consolidation
    from functions.consolidation.store import ConsolidationStore
    from functions.conversations.archive import ConversationArchive
    from functions.conversations.archive_store import ConversationArchiveStore
    from functions.conversations.lists import ConversationLists
    from functions.conversations.mapper import ConversationMapper
    from functions.conversations.message_store import MessageStore
    from functions.conversations.messages import Messages
    from functions.conversations.search import ConversationSearch
    from functions.conversations.service import Conversations
    from functions.conversations.state_store import StateStore
    from functions.conversations.states import States
    from functions.conversations.store import ConversationStore
    from functions.conversations.uploads import Uploads
    from functions.deletion.service import Deletions
    from functions.deletion.store import DeletionStore
    from functions.deletion.tombstones import Tombstones
    from functions.entries.history import EntryHistory
    from functions.entries.history_store import HistoryStore
    from functions.facts.service import Facts
    from functions.facts.store import FactStore
    from functions.learning.budgets import Budgets
    from functions.learning.forgetting import Forgetting
    from functions.learning.language_model import LanguageModel
    from functions.learning.learner import Learner
    from functions.learning.service import Strategies
    from functions.learning.store import PositionStore, StrategyStore
    from functions.objects.file_store import ObjectFiles
    from functions.objects.reader import ObjectReader
    from functions.objects.service import Objects
    from functions.objects.spaces import Spaces
    from functions.objects.store import ObjectStore
    from functions.objects.uploads import ObjectUploads
    from functions.openwop.entry_store import MemoryEntryStore
    from functions.openwop.garbage_collector import MemoryGarbageCollector
    from functions.openwop.ranking import EntryRanking
    from functions.openwop.references import MemoryReferences
    from functions.openwop.run_store import MemoryRunStore
    from functions.openwop.runs import MemoryRuns
    from functions.openwop.secret_store import MemorySecrets
    from functions.openwop.sequence_store import MemoryListStore, SequenceNumbers
    from functions.openwop.service import Memories
    from functions.platform.openai_endpoint import OpenAiEndpoint
    from functions.procedures.service import Procedures
    from functions.recall.forgetting import UserForgetting
    from functions.recall.service import RecallService
    from functions.runs.agent_types import AgentTypes
    from functions.runs.deletion_store import RunDeletionStore
    from functions.runs.deletions import RunDeletions
    from functions.runs.episodes import Episodes
    from functions.runs.rules import RunIds
    from functions.runs.search import EpisodeSearch
    from functions.runs.service import Runs
    from functions.runs.store import RunStore
    from functions.search.embedding_indexer import EmbeddingIndexer
    from functions.search.reembedding import Reembedding
    from functions.search.service import Search
    from functions.usage.reconciliation import Reconciler
    from functions.usage.service import LimitService, UsageReports
    from functions.vectors.model import VectorSearch
    from functions.working_values.service import WorkingValues


class Container(CommonServices):
    """All services of one function, on the tables and keys that its settings name."""

    @cached_property
    def values(self) -> ValueCodec:
        return ValueCodec(self.cipher)

    @cached_property
    def access_explanations(self) -> AccessExplanations:
        from functions.access.service import AccessExplanations

        return AccessExplanations(
            self.entry_reader,
            self.namespaces,
            self.task_access,
            self.conversations,
            self.identity,
            self.clock,
        )

    @cached_property
    def conversation_mapper(self) -> ConversationMapper:
        from functions.conversations.mapper import ConversationMapper

        return ConversationMapper(self.values)

    @cached_property
    def conversation_store(self) -> ConversationStore:
        from functions.conversations.store import ConversationStore

        return ConversationStore(self.table, self.conversation_mapper, self.staging)

    @cached_property
    def message_store(self) -> MessageStore:
        from functions.conversations.message_store import MessageStore

        return MessageStore(self.table, self.conversation_mapper, self.staging)

    @cached_property
    def conversation_archive_store(self) -> ConversationArchiveStore:
        from functions.conversations.archive_store import ConversationArchiveStore

        return ConversationArchiveStore(self.table, self.message_store, self.staging)

    @cached_property
    def conversation_archive(self) -> ConversationArchive:
        from functions.conversations.archive import ConversationArchive
        from functions.conversations.archive_store import ArchiveFiles

        return ConversationArchive(
            self.conversation_archive_store,
            self.conversation_mapper,
            self.staging,
            ArchiveFiles(self.archive_storage),
            self.audit,
            self.clock,
        )

    @cached_property
    def uploads(self) -> Uploads:
        from functions.conversations.upload_store import UploadStore
        from functions.conversations.uploads import Uploads

        store = UploadStore(self.table, self.message_store)
        return Uploads(store, self.conversation_store, self.clock)

    @cached_property
    def conversations(self) -> Conversations:
        from functions.conversations.service import Conversations

        return Conversations(
            self.conversation_store,
            self.message_store,
            self.uploads,
            self.staging,
            self.conversation_archive,
            self.audit,
            self.clock,
        )

    @cached_property
    def conversation_lists(self) -> ConversationLists:
        from functions.conversations.lists import ConversationLists

        return ConversationLists(
            self.conversation_store, self.conversation_archive_store, self.clock
        )

    @cached_property
    def messages(self) -> Messages:
        from functions.conversations.messages import Messages

        return Messages(
            self.conversation_store,
            self.message_store,
            self.audit,
            self.clock,
            self.principal_store.get_many,
        )

    @cached_property
    def state_store(self) -> StateStore:
        from functions.conversations.state_store import StateStore

        return StateStore(self.table, self.values, self.staging)

    @cached_property
    def states(self) -> States:
        from functions.conversations.states import States

        return States(self.state_store, self.audit, self.clock)

    @cached_property
    def deletion_store(self) -> DeletionStore:
        from functions.deletion.store import DeletionStore

        return DeletionStore(self.table, self.log_table, self.archive_storage)

    @cached_property
    def limits(self) -> LimitService:
        from functions.usage.service import LimitService

        has_tenant = self.principal_store.has_tenant
        return LimitService(self.usage_store, self.limit_enforcer, has_tenant, self.audit)

    @cached_property
    def reconciler(self) -> Reconciler:
        from functions.usage.reconciliation import Reconciler

        return Reconciler(self.usage_store, self.consolidation_store.schedule, self.clock)

    @cached_property
    def consolidation_store(self) -> ConsolidationStore:
        from functions.consolidation.store import ConsolidationStore

        return ConsolidationStore(self.table, self.fact_store, self.clock)

    @cached_property
    def consolidator(self) -> Consolidator:
        from functions.consolidation.job import Consolidator
        from functions.facts.store import FactChainStore

        chains = FactChainStore(self.table, self.fact_store)
        return Consolidator(
            self.consolidation_store, self.fact_store, chains, self.audit, self.clock
        )

    @cached_property
    def consolidation(self) -> Consolidation:
        from functions.consolidation.service import Consolidation
        from functions.facts.users import UserAccess

        return Consolidation(
            self.consolidation_store,
            self.consolidator,
            self.fact_store,
            UserAccess(self.namespaces),
            self.audit,
            self.clock,
        )

    @cached_property
    def usage_reports(self) -> UsageReports:
        from functions.usage.service import UsageReports

        return UsageReports(self.usage_store, self.usage_meter, self.clock)

    @cached_property
    def tombstones(self) -> Tombstones:
        from functions.deletion.tombstones import Tombstones

        return Tombstones(self.deletion_store, self.clock)

    @cached_property
    def deletions(self) -> Deletions:
        from functions.deletion.principal_data import PrincipalData, Stores
        from functions.deletion.service import Deletions

        stores = Stores(
            self.expired_entries,
            self.conversation_store,
            self.conversation_archive,
            self.state_store,
            self.object_store,
            self.run_deletion_store,
            self.memory_entry_store,
            self.memory_run_store,
            self.memory_list_store,
            self.namespaces,
        )
        return Deletions(
            self.deletion_store,
            PrincipalData(self.deletion_store, stores, self.clock),
            self.identity.revoke,
            self.principal_store.remove_all,
            self.limits,
            self.persons,
            self.audit,
            self.clock,
        )

    @cached_property
    def object_files(self) -> ObjectFiles:
        from functions.objects.file_store import ObjectFiles

        return ObjectFiles(self.table, self.archive_storage)

    @cached_property
    def object_store(self) -> ObjectStore:
        from functions.objects.store import ObjectStore

        return ObjectStore(self.table, self.values, self.object_files)

    @cached_property
    def objects(self) -> Objects:
        from functions.objects.service import Objects

        return Objects(self.object_store, self.audit, self.clock)

    @cached_property
    def object_reader(self) -> ObjectReader:
        from functions.objects.reader import ObjectReader

        return ObjectReader(self.object_store, self.object_files, self.clock)

    @cached_property
    def object_uploads(self) -> ObjectUploads:
        from functions.objects.uploads import ObjectUploads

        return ObjectUploads(self.objects, self.object_store, self.object_files, self.clock)

    @cached_property
    def spaces(self) -> Spaces:
        from functions.objects.spaces import Spaces

        return Spaces(self.object_store, self.audit, self.clock)

    @cached_property
    def memory_references(self) -> MemoryReferences:
        from functions.openwop.references import MemoryReferences

        return MemoryReferences(self.derive_key)

    @cached_property
    def memory_run_store(self) -> MemoryRunStore:
        from functions.openwop.run_store import MemoryRunStore

        return MemoryRunStore(self.table)

    @cached_property
    def sequence_numbers(self) -> SequenceNumbers:
        from functions.openwop.sequence_store import SequenceNumbers

        return SequenceNumbers(self.table, self.clock)

    @cached_property
    def memory_entry_store(self) -> MemoryEntryStore:
        from functions.openwop.entry_store import MemoryEntryStore

        return MemoryEntryStore(self.table, self.sequence_numbers)

    @cached_property
    def memory_list_store(self) -> MemoryListStore:
        from functions.openwop.sequence_store import MemoryListStore

        return MemoryListStore(self.table)

    @cached_property
    def memory_secrets(self) -> MemorySecrets:
        from functions.openwop.secret_store import MemorySecrets

        return MemorySecrets(self.table, self.values, self.settings.openwop)

    @cached_property
    def memory_runs(self) -> MemoryRuns:
        from functions.openwop.runs import MemoryRuns

        return MemoryRuns(
            self.memory_run_store,
            self.memory_list_store,
            self.sequence_numbers,
            self.memory_secrets,
            self.memory_references,
            self.audit,
            self.clock,
        )

    @cached_property
    def memories(self) -> Memories:
        from functions.openwop.service import Memories

        return Memories(
            self.memory_entry_store,
            self.memory_runs,
            self.memory_secrets,
            self.memory_references,
            self.audit,
            self.clock,
        )

    @cached_property
    def memory_ranking(self) -> EntryRanking:
        from functions.openwop.ranking import EntryRanking

        vectors = self.vector_search
        return EntryRanking((vectors.embed, vectors.embed_query, vectors.weigh))

    @cached_property
    def memory_garbage_collector(self) -> MemoryGarbageCollector:
        from functions.openwop.garbage_collector import MemoryGarbageCollector

        return MemoryGarbageCollector(self.memory_run_store, self.memory_entry_store, self.clock)

    @cached_property
    def run_ids(self) -> RunIds:
        from functions.runs.rules import RunIds

        return RunIds(self.derive_key)

    @cached_property
    def run_store(self) -> RunStore:
        from functions.runs.store import RunStore

        return RunStore(self.table, self.values, self.staging, self.run_ids)

    @cached_property
    def agent_types(self) -> AgentTypes:
        from functions.runs.agent_types import AgentTypes
        from functions.runs.store import AgentTypeStore

        return AgentTypes(AgentTypeStore(self.table), self.clock)

    @cached_property
    def runs(self) -> Runs:
        from functions.runs.service import Runs

        return Runs(self.run_store, self.run_ids, self.agent_types, self.audit, self.clock)

    @cached_property
    def run_deletion_store(self) -> RunDeletionStore:
        from functions.runs.deletion_store import RunDeletionStore

        return RunDeletionStore(self.table, self.staging)

    @cached_property
    def run_deletions(self) -> RunDeletions:
        from functions.runs.deletions import RunDeletions

        return RunDeletions(self.run_store, self.run_deletion_store, self.audit, self.clock)

    @cached_property
    def episodes(self) -> Episodes:
        from functions.runs.episodes import Episodes
        from functions.runs.store import EpisodeStore
        from functions.usage.episode_quota import EpisodeQuota

        return Episodes(
            EpisodeStore(self.table, self.values),
            self.run_store,
            self.run_deletion_store,
            EpisodeQuota(self.usage_store, self.clock),
            self.audit,
            self.clock,
        )

    @cached_property
    def procedures(self) -> Procedures:
        from functions.procedures.service import Procedures
        from functions.procedures.store import WorkflowStore

        return Procedures(WorkflowStore(self.table), self.audit, self.clock)

    @cached_property
    def working_values(self) -> WorkingValues:
        from functions.working_values.service import WorkingValues
        from functions.working_values.store import WorkingValueStore

        return WorkingValues(WorkingValueStore(self.table), self.clock)

    @cached_property
    def vector_search(self) -> VectorSearch:
        from functions.vectors.factory import build_vector_search

        return build_vector_search(self.settings, self.table, self.clock, self.embedding_endpoint)

    @cached_property
    def embedding_endpoint(self) -> OpenAiEndpoint | None:
        """The OpenAI-compatible endpoint that embeds; None if the settings name none."""
        settings = self.settings
        return self._build_endpoint(
            settings.embedding_url, settings.embedding_key, settings.embedding_key_secret_id, 10
        )

    @cached_property
    def learning_endpoint(self) -> OpenAiEndpoint | None:
        """The OpenAI-compatible endpoint that learns; None if the settings name none."""
        settings = self.settings
        return self._build_endpoint(
            settings.learning_url, settings.learning_key, settings.learning_key_secret_id, 60
        )

    def _build_endpoint(
        self, url: str | None, key: str | None, secret_id: str | None, seconds: float
    ) -> OpenAiEndpoint | None:
        """Build an endpoint; its key is read from Secrets Manager where no setting holds it."""
        from functions.platform.openai_endpoint import OpenAiEndpoint

        read = cache(lambda: key if secret_id is None else self.read_secret(secret_id))
        return None if url is None else OpenAiEndpoint(url, read, seconds)

    @cached_property
    def embedding_indexer(self) -> EmbeddingIndexer:
        from functions.search.embedding_indexer import EmbeddingIndexer
        from functions.vectors.store import VectorStore

        store = VectorStore(self.table, self.clock, self.vector_search.format)
        return EmbeddingIndexer(store, self.vector_search.embed)

    @cached_property
    def history_store(self) -> HistoryStore:
        from functions.entries.history_store import HistoryStore

        return HistoryStore(self.table, self.entry_mapper)

    @cached_property
    def history(self) -> EntryHistory:
        from functions.entries.history import EntryHistory

        return EntryHistory(
            self.entry_reader,
            self.changes,
            self.queries,
            self.entry_store,
            self.history_store,
            self.agent_store,
            self.namespaces,
            self.clock,
        )

    @cached_property
    def search(self) -> Search:
        from functions.search.service import Search
        from functions.vectors.client_vectors import ClientVectorIndex

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
    def recall(self) -> RecallService:
        from functions.recall.freshness import Freshness
        from functions.recall.service import RecallService
        from functions.recall.sources import RecallSources

        indexer = self.embedding_indexer if self.vector_search.can_embed else None
        return RecallService(
            RecallSources(
                self.search,
                self.entry_reader,
                self.facts,
                (self.conversation_search, self.conversations),
                (self.episode_search, self.episodes),
                Freshness(self.queries, indexer, self.clock),
            ),
            self.clock,
        )

    @cached_property
    def user_forgetting(self) -> UserForgetting:
        from functions.recall.forgetting import UserForgetting

        return UserForgetting(
            self.namespaces,
            self.batches,
            self.facts,
            (self.conversation_lists, self.conversations, self.conversation_archive),
            (self.persons, self.states),
            (self.spaces, self.objects),
            self.audit,
            self.audit_log,
        )

    @cached_property
    def conversation_search(self) -> ConversationSearch:
        from functions.conversations.search import ConversationSearch, HeldMessages

        return ConversationSearch(
            self.conversation_store,
            self.conversation_lists,
            HeldMessages(self.message_store, self.vector_search.embed),
            self.vector_search.embed_query,
            self.vector_search.weigh,
            self.clock,
            bool(self.settings.searchable_conversations),
        )

    @cached_property
    def episode_search(self) -> EpisodeSearch:
        from functions.runs.search import EpisodeSearch
        from functions.runs.store import EpisodeStore

        vectors = self.vector_search
        return EpisodeSearch(
            EpisodeStore(self.table, self.values),
            self.agent_types,
            (vectors.embed, vectors.embed_query, vectors.weigh),
            self.clock,
        )

    @cached_property
    def fact_store(self) -> FactStore:
        from functions.facts.store import FactStore

        return FactStore(self.table, self.vector_search.format, self.clock)

    @cached_property
    def facts(self) -> Facts:
        from functions.facts.service import Facts
        from functions.facts.store import FactChainStore
        from functions.facts.users import UserAccess

        store = self.fact_store
        chains = FactChainStore(self.table, store)
        users = UserAccess(self.namespaces)
        return Facts(store, chains, self.vector_search, self.audit, users, self.clock)

    @cached_property
    def position_store(self) -> PositionStore:
        from functions.learning.store import PositionStore

        return PositionStore(self.table)

    @cached_property
    def strategy_store(self) -> StrategyStore:
        from functions.learning.store import StrategyStore

        return StrategyStore(self.table)

    @cached_property
    def budgets(self) -> Budgets:
        from functions.learning.budgets import Budgets
        from functions.learning.model import Usage

        settings = self.settings
        limit = Usage(settings.learning_tokens_per_day, settings.learning_requests_per_day)
        return Budgets(self.strategy_store, limit, self.limits.get, self.clock)

    @cached_property
    def strategies(self) -> Strategies:
        from functions.learning.service import Strategies

        return Strategies(
            self.strategy_store,
            self.position_store,
            self.budgets,
            self.settings.learning_models,
            self.audit,
            self.clock,
        )

    @cached_property
    def forgetting(self) -> Forgetting:
        from functions.learning.forgetting import Forgetting
        from functions.learning.store import LearnedStore

        return Forgetting(
            self.table,
            self.conversation_store,
            self.message_store,
            LearnedStore(self.table),
            self.fact_store,
            self.entry_store,
            self.entry_mapper,
            self.clock,
        )

    @cached_property
    def learner(self) -> Learner:
        from functions.facts.store import FactChainStore
        from functions.learning.entry_target import LearnedEntries
        from functions.learning.evidence import Reader
        from functions.learning.fact_target import LearnedFacts
        from functions.learning.learner import Learner
        from functions.learning.plans import Target
        from functions.learning.store import LearnedStore

        learned = LearnedStore(self.table)
        chains = FactChainStore(self.table, self.fact_store)
        facts: Target = LearnedFacts(self.fact_store, chains, learned, self.vector_search)
        entries: Target = LearnedEntries(
            self.entry_store, self.entry_mapper, self.namespace_store, learned
        )
        return Learner(
            self.table,
            self.strategy_store,
            self.position_store,
            self.budgets,
            self.conversation_store,
            self.namespaces,
            Reader(self.message_store),
            self.settings.learning_models,
            self.language_model,
            {"facts": facts, "preferences": entries, "summary": entries, "episodes": entries},
            self.clock,
        )

    @cached_property
    def language_model(self) -> LanguageModel:
        """The endpoint that learns: OpenAI-compatible, or Bedrock."""
        from functions.learning.language_model import BedrockModel, OpenAiModel

        endpoint, models = self.learning_endpoint, self.settings.learning_models
        if endpoint is not None and models[0].startswith("openai:"):
            return OpenAiModel(endpoint)
        return BedrockModel(create_lazy_client("bedrock-runtime", read_timeout=60))

    @cached_property
    def reembedding(self) -> Reembedding:
        from functions.search.reembedding import Reembedding
        from functions.search.store import EmbeddingProgress

        return Reembedding(
            EmbeddingProgress(self.table),
            self.entry_mapper,
            self.embedding_indexer,
            self.facts,
            self.clock,
            self.vector_search.format.name,
        )

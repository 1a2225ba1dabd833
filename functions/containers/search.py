"""Search by meaning, and facts, which are recalled by it."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.facts.service import Facts
from functions.facts.store import FactStore
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.search.reembedding import Reembedding
from functions.search.service import Search
from functions.search.store import EmbeddingProgress
from functions.vectors.client_vectors import ClientVectorIndex
from functions.vectors.factory import build_vector_search
from functions.vectors.model import VectorSearch
from functions.vectors.store import VectorStore


class SearchContainer(FurtherContainer):
    """Makes the services of search and facts."""

    @cached_property
    def vector_search(self) -> VectorSearch:
        return build_vector_search(self._common.settings, self._common.table, self._common.clock)

    @cached_property
    def embedding_indexer(self) -> EmbeddingIndexer:
        store = VectorStore(self._common.table, self._common.clock, self.vector_search.format)
        return EmbeddingIndexer(store, self.vector_search.embed)

    @cached_property
    def search(self) -> Search:
        return Search(
            self.vector_search,
            self._common.entry_store,
            self._common.queries,
            self._common.task_access,
            self._common.namespaces,
            (
                self._common.client_vectors,
                ClientVectorIndex(self._common.client_vectors, self._common.clock),
            ),
            self._common.access_tracker,
            self._common.clock,
        )

    @cached_property
    def facts(self) -> Facts:
        store = FactStore(self._common.table, self.vector_search.format, self._common.clock)
        return Facts(store, self.vector_search, self._common.audit, self._common.clock)

    @cached_property
    def reembedding(self) -> Reembedding:
        return Reembedding(
            EmbeddingProgress(self._common.table),
            self._common.entry_mapper,
            self.embedding_indexer,
            self.facts,
            self._common.clock,
            self.vector_search.format.name,
        )

"""Search by meaning, and facts, which are recalled by it."""

from functions.container import Container
from functions.facts.service import Facts
from functions.facts.store import FactStore
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.search.reembedding import Reembedding
from functions.search.service import Search
from functions.search.store import EmbeddingProgress
from functions.vectors.client_vectors import ClientVectorIndex
from functions.vectors.factory import build_vector_search
from functions.vectors.store import VectorStore


class SearchContainer:
    """Makes the services of search and facts."""

    def __init__(self, common: Container) -> None:
        table, clock, vectors = common.table, common.clock, common.client_vectors
        self.vector_search = build_vector_search(common.settings, table, clock)
        embedding = self.vector_search.format
        self.embedding_indexer = EmbeddingIndexer(
            VectorStore(table, clock, embedding), self.vector_search.embed
        )
        self.search = Search(
            self.vector_search,
            common.entry_store,
            common.queries,
            common.task_access,
            common.namespaces,
            (vectors, ClientVectorIndex(vectors, clock)),
            common.access_tracker,
            clock,
        )
        store = FactStore(table, embedding, clock)
        self.facts = Facts(store, self.vector_search, common.audit, clock)
        self.reembedding = Reembedding(
            EmbeddingProgress(table),
            common.entry_mapper,
            self.embedding_indexer,
            self.facts,
            clock,
            embedding.name,
        )

"""The texts of items, and their vectors from the user's embedding."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from langgraph.store.base import IndexConfig, Op, PutOp, SearchOp, ensure_embeddings
from langgraph.store.base.embed import get_text_at_path

_LEAST_NUMBERS, _MOST_NUMBERS = 64, 3072  # of a vector, in the service
_EVERYTHING = "$"

Vector = list[float]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a batch, by text, without vectors of zeros."""

    documents: Mapping[str, Vector] = field(default_factory=dict)
    queries: Mapping[str, Vector] = field(default_factory=dict)


class TextEmbedder:
    """Embeds items and queries by LangGraph's configuration of an index.

    Raises:
        ValueError: raised when the vectors have too few or too many numbers.
    """

    def __init__(self, config: IndexConfig) -> None:
        if not _LEAST_NUMBERS <= config["dims"] <= _MOST_NUMBERS:
            raise ValueError(f"dims must be {_LEAST_NUMBERS} to {_MOST_NUMBERS}")
        self.embeddings = ensure_embeddings(config["embed"])
        self._fields = config.get("fields") or [_EVERYTHING]

    def extract_texts(self, op: PutOp) -> list[str]:
        """Extract the texts at the paths of an item, each once."""
        if op.value is None:
            return []
        listed = [text for path in self._get_paths(op) for text in get_text_at_path(op.value, path)]
        return [text for text in dict.fromkeys(listed) if text]

    def may_have_several(self, op: PutOp) -> bool:
        """Tell whether an item with these paths may have several texts."""
        paths = self._get_paths(op)
        return len(paths) > 1 or any(mark in path for path in paths for mark in "*{")

    def _get_paths(self, op: PutOp) -> list[str]:
        if op.index is False:
            return []
        return self._fields if op.index is None else op.index

    def embed(self, ops: Iterable[Op]) -> Vectors:
        """Embed the items and the queries of a batch."""
        texts, queries = self._collect(ops)
        found = self.embeddings.embed_documents(texts) if texts else []
        return _to_vectors(
            texts, found, queries, [self.embeddings.embed_query(each) for each in queries]
        )

    async def aembed(self, ops: Iterable[Op]) -> Vectors:
        """Embed as `embed` does, by the embedding's asynchronous methods."""
        texts, queries = self._collect(ops)
        found = await self.embeddings.aembed_documents(texts) if texts else []
        return _to_vectors(
            texts, found, queries, [await self.embeddings.aembed_query(each) for each in queries]
        )

    def _collect(self, ops: Iterable[Op]) -> tuple[list[str], list[str]]:
        """Collect the texts of a batch's items and its queries, each once."""
        listed = list(ops)
        texts = [text for op in listed if isinstance(op, PutOp) for text in self.extract_texts(op)]
        queries = [op.query for op in listed if isinstance(op, SearchOp) and op.query]
        return list(dict.fromkeys(texts)), list(dict.fromkeys(queries))


def _to_vectors(
    texts: list[str], documents: list[Vector], queries: list[str], vectors: list[Vector]
) -> Vectors:
    return Vectors(
        {text: each for text, each in zip(texts, documents, strict=True) if any(each)},
        {query: each for query, each in zip(queries, vectors, strict=True) if any(each)},
    )

"""Build the vector search that a deployment's settings choose."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from functions.platform.aws import LazyClient
from functions.platform.clock import Clock
from functions.platform.embedding_models import (
    BEDROCK,
    MAX_DIMENSIONS,
    MIN_DIMENSIONS,
    EmbeddingModel,
)
from functions.platform.errors import Unavailable
from functions.platform.settings import Settings
from functions.platform.table import Table
from functions.vectors import wordllama
from functions.vectors.bedrock import BedrockEmbeddings
from functions.vectors.hybrid import QueryEmbedder, TextEmbedder, VectorSearch, scale_to_unit
from functions.vectors.in_memory_vectors import InMemoryVectors, float16_format
from functions.vectors.model import NO_VECTORS, EmbedMeanings, Vector, VectorIndex
from functions.vectors.native_index import NativeVectorIndex, native_format

if TYPE_CHECKING:
    from functions.platform.openai_endpoint import OpenAiEndpoint

DEFAULT_FORMAT = float16_format(wordllama.MODEL).name
"""The default format of vectors."""


def build_vector_search(
    settings: Settings, table: Table, clock: Clock, endpoint: "OpenAiEndpoint | None"
) -> VectorSearch:
    """Build the search: by DynamoDB's vector index if the settings name one, else in memory.

    Args:
        endpoint: embeds by a model of the provider `openai`.
    """
    chosen = settings.chosen_embedding_model
    model = wordllama.MODEL if chosen is None else chosen.name
    index: VectorIndex
    if settings.vector_index is None:
        index, vector_format = InMemoryVectors(table, clock, model), float16_format(model)
    else:
        index = NativeVectorIndex(table, settings.vector_index, model)
        vector_format = native_format(model)
    return VectorSearch(
        embed=TextEmbedder(_choose_model(chosen, endpoint, is_query=False)),
        embed_query=QueryEmbedder(_choose_model(chosen, endpoint, is_query=True)),
        format=vector_format if can_embed(settings) else NO_VECTORS,
        index=index,
    )


def can_embed(settings: Settings) -> bool:
    """Tell whether a model is available: the default one may not be installed."""
    return settings.embedding_model is not None or wordllama.is_installed()


def _choose_model(
    model: EmbeddingModel | None, endpoint: "OpenAiEndpoint | None", *, is_query: bool
) -> EmbedMeanings:
    if model is None:
        return wordllama.embed_all
    if model.provider == BEDROCK:
        client = LazyClient("bedrock-runtime")
        return _Checked(BedrockEmbeddings(client, model, is_query=is_query))
    if endpoint is None:
        raise ValueError("an endpoint is needed")
    from functions.vectors.openai import OpenAiEmbeddings  # noqa: PLC0415 - brings httpx

    return _Checked(OpenAiEmbeddings(endpoint, model))


class _Checked:
    """Checks the vectors of a remote model, and scales them to unit length."""

    def __init__(self, embed: EmbedMeanings) -> None:
        self._embed = embed
        self._dimensions: int | None = None

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self._embed(texts)
        for each in vectors:
            self._dimensions = self._dimensions or len(each)
            is_known = MIN_DIMENSIONS <= len(each) <= MAX_DIMENSIONS
            if not is_known or len(each) != self._dimensions:
                raise Unavailable(
                    f"the embedding model returned {len(each)} numbers for a text; vectors must "
                    f"have {MIN_DIMENSIONS} to {MAX_DIMENSIONS}, all the same number"
                )
        return [scale_to_unit(each.tolist()) for each in vectors]

"""Build the vector search that a deployment's settings choose."""

from functions.platform.aws import create_lazy_client
from functions.platform.clock import Clock
from functions.platform.settings import Settings
from functions.platform.table import Table
from functions.vectors import wordllama
from functions.vectors.bedrock import build_titan_embed
from functions.vectors.hybrid import build_embed, build_query_embed
from functions.vectors.in_memory_vectors import InMemoryVectors, float16_format
from functions.vectors.model import (
    NO_VECTORS,
    EmbedMeaning,
    VectorFormat,
    VectorIndex,
    VectorSearch,
)
from functions.vectors.native_index import NativeVectorIndex, native_format

DEFAULT_EMBED = build_embed(wordllama.embed, wordllama.weigh)
"""Embeds texts where no setting chooses another model."""
DEFAULT_QUERY_EMBED = build_query_embed(wordllama.embed, wordllama.weigh)
"""Embeds queries there."""
DEFAULT_FORMAT = float16_format(wordllama.MODEL).name
"""The format of vectors where no setting chooses another one."""


def build_vector_search(settings: Settings, table: Table, clock: Clock) -> VectorSearch:
    """Build the search: by DynamoDB's vector index if the settings name one, else in memory."""
    model, embed_meaning = _choose_model(settings)
    index: VectorIndex
    if settings.vector_index is None:
        index, vector_format = InMemoryVectors(table, clock, model), float16_format(model)
    else:
        index = NativeVectorIndex(table, settings.vector_index, model)
        vector_format = native_format(model)
    return VectorSearch(
        embed=build_embed(embed_meaning, wordllama.weigh),
        embed_query=build_query_embed(embed_meaning, wordllama.weigh),
        weigh=wordllama.weigh,
        format=_choose_format(settings, vector_format),
        index=index,
    )


def can_embed(settings: Settings) -> bool:
    """Tell whether there is a model: the default one may not be installed."""
    return settings.embedding_model is not None or wordllama.is_installed()


def _choose_format(settings: Settings, vector_format: VectorFormat) -> VectorFormat:
    return vector_format if can_embed(settings) else NO_VECTORS


def _choose_model(settings: Settings) -> tuple[str, EmbedMeaning]:
    if settings.embedding_model is None:
        return wordllama.MODEL, wordllama.embed
    model_id = settings.embedding_model.removeprefix("bedrock:")
    embed = build_titan_embed(create_lazy_client("bedrock-runtime"), model_id)
    return settings.embedding_model, embed

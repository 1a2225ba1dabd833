"""What a deployment embeds and searches by."""

from functions.platform.aws import create_lazy_client
from functions.platform.clock import Clock
from functions.platform.settings import Settings
from functions.platform.table import Table
from functions.vectors import static
from functions.vectors.bedrock import titan
from functions.vectors.index import VectorIndex, as_halves
from functions.vectors.model import Embed, Meanings
from functions.vectors.native import NativeIndex, as_numbers

FIRST = as_halves().name
"""What vectors are made by where nobody has chosen."""
NOTHING = "nothing"
"""What they are made by where there is no model."""


def meanings_of(settings: Settings, table: Table, clock: Clock) -> Meanings:
    """By DynamoDB's own index, where the settings name one; else exactly, in memory."""
    model, embed = settings.embedding_model or static.MODEL, _embed(settings.embedding_model)
    if settings.vector_index is None:
        return Meanings(embed, as_halves(model), VectorIndex(table, clock, model))
    index = NativeIndex(table, settings.vector_index, model)
    return Meanings(embed, as_numbers(model), index)


def can_embed(settings: Settings) -> bool:
    """Whether there is a model; the default one has no build for some platforms."""
    return settings.embedding_model is not None or static.installed()


def _embed(model: str | None) -> Embed:
    if model is None:
        return static.embed
    return titan(create_lazy_client("bedrock-runtime"), model.removeprefix("bedrock:"))


def made_by(settings: Settings, meanings: Meanings) -> str:
    """What vectors are made by, in a word: the model, and the index that they are for."""
    return meanings.form.name if can_embed(settings) else NOTHING

"""What a deployment embeds and searches by."""

from functions.platform.clock import Clock
from functions.platform.settings import Searching
from functions.platform.table import Table
from functions.vectors.index import VectorIndex, as_bytes
from functions.vectors.model import Meanings
from functions.vectors.native import NativeIndex, as_numbers
from functions.vectors.static import MODEL, embed


def meanings_of(settings: Searching, table: Table, clock: Clock) -> Meanings:
    """By DynamoDB's own index, where the settings name one; else exactly, in memory."""
    if settings.vector_index is None:
        return Meanings(MODEL, embed, as_bytes(MODEL), VectorIndex(table, clock, MODEL))
    index = NativeIndex(table, settings.vector_index, MODEL)
    return Meanings(MODEL, embed, as_numbers(MODEL), index)

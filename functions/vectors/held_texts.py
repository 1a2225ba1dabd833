"""Index texts that a search has just read from the table, only in memory.

A change of such a text costs no write of a vector. Later searches of the process reuse embeddings
of unchanged texts.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from functions.platform.parallel import run_parallel
from functions.vectors.hybrid import TextEmbedder
from functions.vectors.matrix import HeldSpace, HeldSpaces, RowKey, TextMatrix, hash_term
from functions.vectors.model import Candidates, Embedding

_MAX_HELD_BYTES = 76_800_000  # of 75,000 pieces of texts
_BATCH = 48  # texts that a thread embeds


class Text(NamedTuple):
    """A text of a space.

    Attributes:
        name: unique in the space.
        version: changes with the text.
    """

    name: str
    version: int
    text: str


class HeldTexts:
    """Spaces of texts, each with its index. Safe for use by several threads."""

    def __init__(self, embed: TextEmbedder) -> None:
        self._embed = embed
        self._spaces = HeldSpaces(HeldSpace, _MAX_HELD_BYTES)

    def find(self, name: str, texts: Sequence[Text], query: Embedding) -> Candidates:
        """Compare the texts of a space with a query; other texts leave the space."""
        with self._spaces.use(name) as space:
            matrix = space.matrix
            for other in matrix.names - {each.name for each in texts}:
                matrix.forget(other, matrix.written_at(other) or 0)
            add_texts(matrix, self._embed, texts)
            return matrix.find_candidates(query, len(texts) or 1, {})


def add_texts(matrix: TextMatrix, embed: TextEmbedder, texts: Iterable[Text]) -> None:
    """Embed new and changed texts, and add them to a matrix."""
    changed = [
        each
        for each in texts
        if each.name not in matrix.names or matrix.written_at(each.name) != each.version
    ]
    said = [each.text for each in changed]
    batches = [said[first : first + _BATCH] for first in range(0, len(said), _BATCH)]
    embedded = run_parallel([partial(embed.embed_all, each) for each in batches])
    _put_embedded(matrix, changed, chain.from_iterable(embedded))


def _put_embedded(matrix: TextMatrix, texts: Iterable[Text], embedded: Iterable[Embedding]) -> None:
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

    pairs = [(text, each) for text, each in zip(texts, embedded, strict=True) if each.meanings]
    if not pairs:
        return
    numbers = b"".join(piece.tobytes() for _, each in pairs for piece in each.meanings)
    dimension = len(pairs[0][1].meanings[0])
    matrix.put_texts(
        [RowKey(text.name, {}, text.version, len(each.meanings)) for text, each in pairs],
        np.frombuffer(numbers, np.float32).reshape(-1, dimension),
        (map(hash_term, each.terms) for _, each in pairs),
    )

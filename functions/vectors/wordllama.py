"""The default embedding model, WordLlama: a text's vector is the mean of its word pieces' vectors.

It has two data files for all platforms (`tools/embedding_model.py` installs them); tokenizers and
numpy replace the code of the package `wordllama`. All sums are exact or in one order, so a text has
exactly the same vector on every machine.
"""

import json
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from math import fsum, sqrt
from operator import mul
from pathlib import Path
from struct import unpack
from threading import Lock
from typing import TYPE_CHECKING

from functions.platform.errors import Unavailable
from functions.vectors.model import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MODEL = "wordllama-256"
DIMENSION = 256
_REMEMBERED_WORDS, _MAX_REMEMBERED = 20_000, 32  # words, and letters of one: 3 MB
_REMEMBERED_VECTORS, _REMEMBERED_QUERIES = 8_192, 64  # of words: 8 MB
_TYPICAL_LENGTH = 13.0  # the shortest vector of a word with meaning
_FOLDER, _WEIGHTS, _TOKENIZER = "wordllama_data", "weights.safetensors", "tokenizer.json"
_MISSING = (
    "no embedding model is installed: install the package tokenizers, "
    "and the model by `python -m tools.embedding_model`"
)
_loading = Lock()


def embed(text: str) -> Vector:
    """Embed a text of at least one character."""
    total = _sum_pieces(text)
    length = compute_length(total) or 1.0
    return array("f", [each / length for each in total])


def embed_all(texts: Sequence[str]) -> list[Vector]:
    """Embed texts of at least one character each."""
    return list(map(embed, texts))


def _sum_pieces(text: str) -> list[float]:
    with _loading:
        tokenizer, weights = _load_model()
    pieces = tokenizer.encode(text, add_special_tokens=False).ids
    total: list[float] = weights[pieces].sum(0, dtype="float64").tolist()
    return total


def compute_length(numbers: Sequence[float]) -> float:
    """Compute the length of a vector by an exact sum, the same on every machine."""
    return sqrt(fsum(map(mul, numbers, numbers)))


def weigh(words: list[str]) -> list[float]:
    """Weigh words: a rare noun weighs about 2, a common verb a tenth. 1 without the model's files.

    The lengths of the model's vectors are the weights: rarer word pieces have longer ones.
    """
    try:
        return [
            _recall_weight(word) if len(word) <= _MAX_REMEMBERED else _compute_weight(word)
            for word in words
        ]
    except Unavailable:
        return [1.0] * len(words)


def _compute_weight(word: str) -> float:
    """Compute a word's weight: about 15 microseconds."""
    return compute_length(_sum_pieces(word)) / _TYPICAL_LENGTH


_recall_weight = lru_cache(_REMEMBERED_WORDS)(_compute_weight)
"""Cached vectors of common words."""


def compare_words(words: tuple[str, ...], other: str) -> list[float]:
    """Compare words with another one: the cosine of each; 0 without the model's files."""
    if not words:
        return []
    try:
        cosines: list[float] = (_stack(words) @ _recall_vector(other)).tolist()
    except Unavailable:
        return [0.0] * len(words)
    return cosines


@lru_cache(_REMEMBERED_QUERIES)
def _stack(words: tuple[str, ...]) -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests embed nothing

    return np.stack(list(map(_recall_vector, words)))


@lru_cache(_REMEMBERED_VECTORS)
def _recall_vector(word: str) -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 - likewise

    total = np.array(_sum_pieces(word[:_MAX_REMEMBERED]), np.float32)
    length = np.linalg.norm(total) or 1.0
    return np.divide(total, length, dtype=np.float32)


def is_installed() -> bool:
    """Tell whether the model is installed: its files and the tokenizer."""
    return _find_folder() is not None and find_spec("tokenizers") is not None


@cache
def _load_model() -> tuple["Tokenizer", "NDArray[np.float16]"]:
    """Load the tokenizer, and map the table of weights: a row for each word piece."""
    folder = _find_folder()
    if folder is None or not is_installed():
        raise Unavailable(_MISSING)
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests embed nothing
    from tokenizers import Tokenizer  # noqa: PLC0415 - likewise

    path = folder / _WEIGHTS
    with path.open("rb") as file:
        (header_bytes,) = unpack("<Q", file.read(8))
        header = json.loads(file.read(header_bytes))
    start, _ = header["embedding.weight"]["data_offsets"]
    rows, _ = header["embedding.weight"]["shape"]
    offset = 8 + header_bytes + start
    weights = np.memmap(path, np.float16, mode="r", offset=offset, shape=(rows, DIMENSION))
    # A plain array of the same memory, because each row of a memmap is a slow object.
    return Tokenizer.from_file(str(folder / _TOKENIZER)), np.asarray(weights)


def _find_folder() -> Path | None:
    """Find the folder of the model's files, among the installed packages."""
    spec = find_spec(_FOLDER)
    found = spec.submodule_search_locations if spec is not None else None
    folders = (Path(each) for each in found or ())
    return next((each for each in folders if (each / _WEIGHTS).is_file()), None)

"""The default model: a fixed vector for each word piece, and their mean (WordLlama, 256 numbers).

It is two data files of the package `wordllama`. The package itself has no build for Lambda, and it
takes but a few lines to do the same: a text costs a look into a table for each word piece.
"""

import json
import mmap
from array import array
from functools import cache
from importlib.util import find_spec
from math import hypot
from pathlib import Path
from struct import unpack_from
from threading import Lock
from typing import TYPE_CHECKING

from functions.platform.errors import Unavailable
from functions.vectors.arithmetic import sum_of_rows
from functions.vectors.model import Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL = "wordllama-l2-supercat-256"
DIMENSION = 256
_WEIGHTS = Path("weights/l2_supercat_256.safetensors")
_WORD_PIECES = Path("tokenizers/l2_supercat_tokenizer_config.json")
_loading = Lock()


def embed(text: str) -> Vector:
    """The meaning of a text that has at least one character.

    Raises:
        Unavailable: the model isn't installed here.
    """
    with _loading:
        tokenizer, weights, start = _files()
    pieces = tokenizer.encode(text, add_special_tokens=False).ids
    total = sum_of_rows(weights, start, DIMENSION, pieces)
    length = hypot(*total) or 1.0
    return array("f", [each / length for each in total])


@cache
def _files() -> tuple["Tokenizer", mmap.mmap, int]:
    """The tokenizer, the weights, and where in their file the rows begin; read at first use."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - most requests need no model

    folder = _folder()
    if folder is None:
        raise Unavailable("there is no model here to search with; install the package wordllama")
    with (folder / _WEIGHTS).open("rb") as file:
        weights = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    (header,) = unpack_from("<Q", weights)
    begin, _ = json.loads(weights[8 : 8 + header])["embedding.weight"]["data_offsets"]
    return Tokenizer.from_file(str(folder / _WORD_PIECES)), weights, 8 + header + begin


def installed() -> bool:
    """Whether the model is there; its package has no build for some platforms."""
    return _folder() is not None


def _folder() -> Path | None:
    """Where the package's files are; in Lambda there are no others of it."""
    spec = find_spec("wordllama")
    found = spec.submodule_search_locations if spec is not None else None
    return Path(found[0]) if found else None

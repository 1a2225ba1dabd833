"""Arithmetic on many numbers at once.

A laptop has numpy, which comes with the model's package; Lambda has none, and adds up by itself.
"""

import mmap
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from operator import mul
from struct import Struct

from functions.vectors.model import Vector


def sum_of_rows(
    table: bytes | mmap.mmap, start: int, width: int, rows: Sequence[int]
) -> Sequence[float]:
    """The sum of some rows of a table of half-precision numbers, exact in either way.

    Args:
        table: a file that holds it.
        start: where it begins there.
        width: of a row, in numbers.
        rows: which; one may be there several times.
    """
    if _has_numpy():
        import numpy as np  # noqa: PLC0415 - most requests add nothing up

        halves = np.frombuffer(table, np.float16, offset=start).reshape(-1, width)
        added = halves[np.asarray(rows, np.intp)].sum(0, dtype=np.float64)
        return list(added.tolist())
    row, total = Struct(f"<{width}e"), [0.0] * width
    for number, times in Counter(rows).items():
        numbers = row.unpack_from(table, start + number * row.size)
        total = [sum_ + times * each for sum_, each in zip(total, numbers, strict=True)]
    return total


def ranked(
    query: Vector, numbers: Vector, lengths: Sequence[float]
) -> tuple[Sequence[float], Sequence[int]]:
    """The cosine of each row with a query of unit length, and the rows' order by it."""
    if _has_numpy():
        import numpy as np  # noqa: PLC0415 - most requests compare nothing

        rows = np.frombuffer(numbers, np.float32).reshape(-1, len(query))
        found = rows @ np.frombuffer(query, np.float32) / np.asarray(lengths)
        return found.tolist(), np.argsort(-found, kind="stable").tolist()
    size = len(query)
    scores = [
        sum(map(mul, query, numbers[row * size : (row + 1) * size])) / length
        for row, length in enumerate(lengths)
    ]
    return scores, sorted(range(len(scores)), key=scores.__getitem__, reverse=True)


@cache
def _has_numpy() -> bool:
    return find_spec("numpy") is not None

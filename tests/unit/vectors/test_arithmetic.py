"""The same sums with numpy and without it."""

import random
from struct import pack

import pytest

from functions.vectors.arithmetic import sum_of_rows

_LUCK = random.Random(3)  # noqa: S311 - no secret
TABLE = [[_LUCK.randrange(-2_000, 2_000) / 64 for _ in range(5)] for _ in range(40)]
STORED = b"head" + b"".join(pack("<5e", *row) for row in TABLE)


@pytest.mark.usefixtures("numpy")
@pytest.mark.parametrize("rows", [[], [0], [39, 39, 39], [*range(40), *range(0, 40, 3)]])
def test_the_sum_is_exact(rows: list[int]) -> None:
    exact = [sum(TABLE[row][column] for row in rows) for column in range(5)]
    assert list(sum_of_rows(STORED, 4, 5, rows)) == exact

"""Vectors side by side in memory, compared with a query all at once."""

from array import array
from collections.abc import Iterator
from itertools import groupby
from math import hypot

from functions.platform.items import Item
from functions.vectors.arithmetic import ranked
from functions.vectors.model import Vector


class Block:
    """The vectors of a space, each under its name and beside what it may be filtered by."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._names: list[str] = []
        self._items: list[Item | None] = []
        self._written: list[int] = []
        self._numbers = array("f")
        self._lengths = array("d")

    def __len__(self) -> int:
        return len(self._names)

    def written(self, name: str) -> int | None:
        """When what is held under a name was written (epoch ms)."""
        row = self._rows.get(name)
        return None if row is None else self._written[row]

    def keep(self, name: str, vector: Vector, item: Item, written: int) -> None:
        """Holds a vector in place of what was under its name."""
        row = self._row(name, len(vector))
        self._items[row], self._written[row] = item, written
        self._numbers[row * len(vector) : (row + 1) * len(vector)] = vector
        self._lengths[row] = hypot(*vector) or 1.0

    def drop(self, name: str, dimension: int, written: int) -> None:
        """Holds nothing under a name, as of a moment."""
        row = self._row(name, dimension)
        self._items[row], self._written[row] = None, written

    def _row(self, name: str, dimension: int) -> int:
        row = self._rows.setdefault(name, len(self._names))
        if row == len(self._names):
            self._names.append(name)
            self._items.append(None)
            self._written.append(0)
            self._numbers.extend([0.0] * dimension)
            self._lengths.append(1.0)
        return row

    def ranked(self, query: Vector) -> Iterator[tuple[str, float, Item]]:
        """Name, cosine and item of all, the most alike first; those that are alike by name."""
        scores, order = ranked(query, self._numbers, self._lengths)
        for score, rows in groupby(order, key=scores.__getitem__):
            for row in sorted(rows, key=self._names.__getitem__):
                item = self._items[row]
                if item is not None:
                    yield self._names[row], score, item

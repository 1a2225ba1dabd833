"""Exact search among the vectors of a space, which are held in memory and brought up to date.

A search reads what has changed since the one before, so its reads grow with the changes and not
with what is stored.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from struct import pack, unpack
from threading import Lock

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import AGE_ATTRIBUTE, BY_AGE
from functions.platform.table import Table
from functions.platform.vector_keys import VECTOR_PREFIX, ref_of
from functions.vectors.block import Block
from functions.vectors.model import Form, Hit, Vector
from functions.vectors.static import MODEL

_VECTOR = "half"
_OVERLAP = 60_000  # ms; how far clocks may differ, and the index by age be behind
_MOST_HELD = 50_000  # vectors, of a kilobyte each in memory


@dataclass(slots=True)
class _Space:
    lock: Lock = field(default_factory=Lock)
    block: Block | None = None
    newest: int = 0
    looked: int = 0  # the moment of the last look; what is written in it may change once more


class VectorIndex:
    """Searches spaces. Any number of threads may."""

    most = 10_000
    """How many hits a search gives at most."""

    def __init__(self, table: Table, clock: Clock, model: str = MODEL) -> None:
        self._table = table
        self._clock = clock
        self._model = model
        self._lock = Lock()
        self._spaces: OrderedDict[str, _Space] = OrderedDict()

    def search(self, space: str, query: Vector, top_k: int, equal: Mapping[str, str]) -> list[Hit]:
        """The `top_k` most alike to the query among those whose filters are `equal`, best first."""
        with self._lock:
            held = self._spaces.setdefault(space, _Space())
            self._spaces.move_to_end(space)
        with held.lock:
            block = self._current(space, held, len(query))
            fitting = (
                Hit(ref_of(name), min(score, 1.0))
                for name, score, item in block.ranked(query)
                if equal.items() <= item.items()
            )
            hits = list(islice(fitting, min(top_k, self.most)))
        self._forget()
        return hits

    def _current(self, name: str, space: _Space, dimension: int) -> Block:
        now, block = self._clock(), space.block
        if block is None:
            block, items = Block(), self._table.query(name, VECTOR_PREFIX)
        else:
            items = iter(self._changed(name, space, block))
        for item in items:
            self._take(block, item, dimension)
            space.newest = max(space.newest, item[AGE_ATTRIBUTE])
        space.block, space.looked = block, now
        return block

    def _take(self, block: Block, item: Item, dimension: int) -> None:
        """Takes over an item: a vector, or a tombstone or one of another model."""
        stored, written = item.pop(_VECTOR, None), item[AGE_ATTRIBUTE]
        if stored is not None and item["model"] == self._model:
            block.keep(item["sk"], _whole(stored), item, written)
        else:
            block.drop(item["sk"], dimension, written)

    def _changed(self, name: str, space: _Space, block: Block) -> Iterable[Item]:
        """What was written since, and a while before; of that, what isn't held as it is."""
        since = space.newest - _OVERLAP
        recent = self._table.query_since(BY_AGE, name, AGE_ATTRIBUTE, since)
        wanted: list[Key] = [
            (name, row["sk"])
            for row in recent
            if row[AGE_ATTRIBUTE] != block.written(row["sk"]) or row[AGE_ATTRIBUTE] >= space.looked
        ]
        return self._table.get_many(wanted).values() if wanted else ()

    def _forget(self) -> None:
        """Lets go of the spaces that were searched longest ago, where there is too much."""
        with self._lock:
            sizes = {name: len(space.block or ()) for name, space in self._spaces.items()}
            surplus = sum(sizes.values()) - _MOST_HELD
            for name, size in list(sizes.items())[:-1]:
                if surplus <= 0:
                    return
                del self._spaces[name]
                surplus -= size


def as_halves(model: str = MODEL) -> Form:
    """How the exact search wants vectors: in half precision, two bytes for each number.

    So one of 256 numbers costs a write unit, and two where it was in single precision.
    """

    def stored(_space: str, vector: Vector, filters: Mapping[str, str]) -> Item:
        return {_VECTOR: pack(f"<{len(vector)}e", *vector), "model": model, **filters}

    return Form(model, _VECTOR, stored)


def _whole(stored: bytes) -> Vector:
    return array("f", unpack(f"<{len(stored) // 2}e", stored))

"""Exact search among the vectors of a space, which are held in memory and brought up to date.

A search reads what has changed since the one before, so its reads grow with the changes and not
with what is stored.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import mul
from threading import Lock

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import AGE_ATTRIBUTE, BY_AGE
from functions.platform.table import Table
from functions.platform.vector_keys import VECTOR_PREFIX, ref_of
from functions.vectors.model import Form, Hit, Vector
from functions.vectors.static import MODEL

_OVERLAP = 60_000  # ms; how far clocks may differ, and the index by age be behind
_MOST_HELD = 50_000  # vectors, of a kilobyte each


@dataclass(slots=True)
class _Held:
    """What is known of a vector: when it was written, and what a search may ask for."""

    written: int
    vector: Vector | None  # None: a tombstone, or of another model
    item: Item


@dataclass(slots=True)
class _Space:
    lock: Lock = field(default_factory=Lock)
    held: dict[str, _Held] | None = None
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
        held = self._current(space)
        hits = [
            Hit(ref_of(sort), sum(map(mul, query, each.vector)))
            for sort, each in held.items()
            if each.vector is not None
            and all(each.item.get(name) == wanted for name, wanted in equal.items())
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.ref))[: min(top_k, self.most)]

    def _current(self, name: str) -> dict[str, _Held]:
        with self._lock:
            space = self._spaces.setdefault(name, _Space())
            self._spaces.move_to_end(name)
        with space.lock:
            now = self._clock()
            if space.held is None:
                space.held = _held(self._table.query(name, VECTOR_PREFIX), self._model)
            else:
                space.held |= _held(self._changed(name, space, space.held), self._model)
            space.looked = now
            space.newest = max((each.written for each in space.held.values()), default=0)
            held = dict(space.held)
        self._forget()
        return held

    def _changed(self, name: str, space: _Space, held: Mapping[str, _Held]) -> Iterable[Item]:
        """What was written since, and a while before; of that, what isn't held as it is."""
        since = space.newest - _OVERLAP
        recent = self._table.query_since(BY_AGE, name, AGE_ATTRIBUTE, since)
        wanted: list[Key] = [
            (name, row["sk"])
            for row in recent
            if row["sk"] not in held
            or row[AGE_ATTRIBUTE] != held[row["sk"]].written
            or row[AGE_ATTRIBUTE] >= space.looked
        ]
        return self._table.get_many(wanted).values() if wanted else ()

    def _forget(self) -> None:
        """Lets go of the spaces that were searched longest ago, where there is too much."""
        with self._lock:
            sizes = {name: len(space.held or ()) for name, space in self._spaces.items()}
            surplus = sum(sizes.values()) - _MOST_HELD
            for name, size in list(sizes.items())[:-1]:
                if surplus <= 0:
                    return
                del self._spaces[name]
                surplus -= size


def _held(items: Iterable[Item], model: str) -> dict[str, _Held]:
    held = {}
    for item in items:
        stored = item.pop("vec", None)
        fits = stored is not None and item["model"] == model
        vector = array("f", stored) if fits else None
        held[item["sk"]] = _Held(item[AGE_ATTRIBUTE], vector, item)
    return held


def as_bytes(model: str = MODEL) -> Form:
    """How the exact search wants vectors: four bytes for each number."""

    def form(_space: str, vector: Vector, filters: Mapping[str, str]) -> Item:
        return {"vec": vector.tobytes(), "model": model, **filters}

    return form

"""Vectors in memory: a matrix of rows for each space, and the spaces that a process holds."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from math import hypot
from threading import Lock
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from functions.platform.item_types import AGENT_VECTOR
from functions.vectors.model import Candidates, Embedding, Hit, Statistics, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SORTED = 4  # times the depth; enough hits remain after filters and deletions
_FEW_ROWS = 1_000
OWNED = "user_id"
"""The filter of texts that only callers with access to a user's memory may read."""


class RowKey(NamedTuple):
    """Describes the rows of one text in a matrix.

    Attributes:
        name: unique in the matrix.
        written: the time of the write (epoch ms).
    """

    name: str
    filters: Mapping[str, str]
    written: int
    pieces: int = 1


class TextMatrix:
    """The vectors of texts in one block of memory, and an inverted index of their words.

    There is a row for each piece of a text. Rows are only appended. Rows of changed or removed
    texts have no filters. Example: "a" is put, then "b", then "a" again: row 0 is dead, and
    searches find rows 1 and 2. The inverted index has, for each term, the first rows of the texts
    that have it.
    """

    def __init__(self) -> None:
        self._rows: dict[str, range] = {}
        self._names: list[str] = []
        self._filters: list[Mapping[str, str] | None] = []
        self._written: dict[str, int] = {}
        self._numbers = array("f")
        self._postings: dict[int, array[int]] = {}
        self._uncounted: set[str] = set()

    @property
    def size(self) -> int:
        """The bytes of the vectors."""
        return len(self._numbers) * self._numbers.itemsize

    @property
    def is_sparse(self) -> bool:
        """Tell whether most rows are dead: reading the space again saves memory and time."""
        alive = sum(map(len, self._rows.values()))
        return len(self._names) > max(2 * alive, _FEW_ROWS)

    @property
    def names(self) -> Set[str]:
        """The names that have rows."""
        return self._rows.keys()

    def written_at(self, name: str) -> int | None:
        """Get the time (epoch ms) of the last write of a name; None without one."""
        return self._written.get(name)

    def put_texts(
        self, keys: Sequence[RowKey], vectors: "NDArray[np.float32]", terms: Iterable[Iterable[int]]
    ) -> None:
        """Put texts: a vector for each piece, and the hashed terms.

        A text with a `user_id` is not counted: some callers may not read it, and the rarity of a
        word must not reveal that the text has it.
        """
        for key, each in zip(keys, terms, strict=True):
            self._drop(key.name)
            first = len(self._names)
            self._rows[key.name] = range(first, first + key.pieces)
            self._names += [key.name] * key.pieces
            self._filters += [key.filters] * key.pieces
            self._written[key.name] = key.written
            self._uncounted.discard(key.name)
            if OWNED in key.filters:
                self._uncounted.add(key.name)
            for term in each:
                self._postings.setdefault(term, array("I")).append(first)
        self._numbers.frombytes(vectors.tobytes())

    def remove(self, name: str, written: int) -> None:
        """Remove the rows of a name, as of a write at a time (epoch ms)."""
        self._drop(name)
        self._written[name] = written

    def forget(self, name: str, written: int) -> None:
        """Remove the rows of a name if they are those of a write at a time (epoch ms)."""
        if self.written_at(name) == written:
            self._drop(name)

    def _drop(self, name: str) -> None:
        for row in self._rows.pop(name, ()):
            self._filters[row] = None

    def _take(
        self, scores: "NDArray[np.float32]", depth: int, filters: Mapping[str, str]
    ) -> list[tuple[str, float]]:
        """Select the best names that match the filters, each by its best row."""
        best: dict[str, float] = {}
        for row in _list_best(scores, depth):
            if len(best) == depth:
                break
            present = self._filters[row]
            if present is not None and filters.items() <= present.items():
                best.setdefault(self._names[row], float(scores[row]))
        return list(best.items())

    def find_candidates(
        self,
        query: Embedding,
        depth: int,
        filters: Mapping[str, str],
        statistics: Statistics | None = None,
    ) -> Candidates:
        """Find the best texts by meaning and by words; of equally good ones, the earliest.

        Args:
            depth: how many candidates to return by meaning, and by words.
            filters: what the texts must have.
            statistics: those of all searched spaces; None for those of this space.
        """
        if not self._names:
            return Candidates([], [], is_complete=True, statistics=Statistics(0, {}))
        (meaning,) = query.meanings
        cosines = self._compute_cosines(meaning)
        known = statistics or self.count(query.terms)
        best = self._take(cosines, depth, filters)
        by_words = self._take(self._rank_by_words(known), depth, filters)
        return Candidates(
            [self._build_hit(name, score, cosines, len(meaning)) for name, score in best],
            [
                self._build_hit(name, score, cosines, len(meaning))
                for name, score in by_words
                if score > 0
            ],
            is_complete=len(best) < depth,
            statistics=known,
        )

    def find_cosines(self, query: Embedding, names: Iterable[str]) -> dict[str, float]:
        """Find the cosines of texts, by name; names without a text are omitted."""
        (meaning,) = query.meanings
        if not self._names:
            return {}
        cosines = self._compute_cosines(meaning)
        return {
            name: self._build_hit(name, 0, cosines, len(meaning)).cosine
            for name in names
            if name in self._rows
        }

    def _compute_cosines(self, meaning: Vector) -> "NDArray[np.float32]":
        """Compute each row's cosine with a vector, scaled by the weight of the row's piece."""
        import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

        rows = np.frombuffer(self._numbers, np.float32).reshape(-1, len(meaning))
        return rows @ np.frombuffer(meaning, np.float32)

    def _build_hit(
        self, name: str, score: float, cosines: "NDArray[np.float32]", dimension: int
    ) -> Hit:
        """Build a hit with the cosine of its best piece, without the scale."""
        row = max(self._rows[name], key=lambda each: float(cosines[each]))
        first = row * dimension
        length = hypot(*self._numbers[first : first + dimension]) or 1.0
        cosine = min(float(cosines[row]) / length, 1.0)
        return Hit(AGENT_VECTOR.parse(name), score, cosine, self._written[name])

    def count(self, terms: Iterable[str]) -> Statistics:
        """Count the texts that all callers may read, and how many of them have each term."""
        rows = {each: self._postings.get(hash_term(each), ()) for each in terms}
        return Statistics(
            len(self._rows) - len(self._uncounted & self._rows.keys()),
            {each: sum(map(self._is_counted, found)) for each, found in rows.items()},
        )

    def _is_counted(self, row: int) -> bool:
        return self._filters[row] is not None and self._names[row] not in self._uncounted

    def _rank_by_words(self, statistics: Statistics) -> "NDArray[np.float32]":
        import numpy as np  # noqa: PLC0415 - as above

        scores = np.zeros(len(self._names), np.float32)
        for term in statistics.counts:
            found = self._postings.get(hash_term(term))
            if found:
                scores[np.frombuffer(found, np.uint32)] += statistics.compute_rarity(term)
        return scores


def decode_vectors(stored: Sequence[bytes], dimension: int) -> "NDArray[np.float32]":
    """Decode vectors together: a row for each piece of a text."""
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

    return np.frombuffer(b"".join(stored), "<f2").reshape(-1, dimension).astype(np.float32)


def hash_term(term: str) -> int:
    """Hash a word or an id to 32 bits, its key in an inverted index."""
    return int.from_bytes(blake2b(term.encode(), digest_size=4).digest(), "little")


def _list_best(scores: "NDArray[np.float32]", depth: int) -> Iterator[int]:
    """List the rows by score, best first; sort only as many as a caller is likely to read."""
    import numpy as np  # noqa: PLC0415 - as above

    likely = min(_SORTED * depth, len(scores))
    is_likely = scores >= np.partition(scores, -likely)[-likely]
    for is_wanted in (True, False):
        part = np.flatnonzero(is_likely == is_wanted)
        yield from part[np.argsort(-scores[part], kind="stable")].tolist()


@dataclass(slots=True)
class HeldSpace:
    """The vectors that a process holds of a space, for one search at a time.

    They are as of the time of the last read; 0 for never.
    """

    lock: Lock = field(default_factory=Lock)
    matrix: TextMatrix = field(default_factory=TextMatrix)
    refreshed: int = 0  # epoch ms; later writes may still have this time
    looked_back: int = 0  # epoch ms; the last read with the long overlap


Held = TypeVar("Held", bound=HeldSpace)


class HeldSpaces(Generic[Held]):
    """The spaces that a process holds, up to a number of bytes of vectors. Safe for threads."""

    def __init__(self, create: Callable[[], Held], max_bytes: int) -> None:
        self._create = create
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._spaces: OrderedDict[str, Held] = OrderedDict()

    @contextmanager
    def use(self, name: str) -> Iterator[Held]:
        """Hold a space for one search; then drop the least recently used ones over the maximum."""
        with self._lock:
            space = self._spaces.get(name) or self._create()
            self._spaces[name] = space
            self._spaces.move_to_end(name)
        with space.lock:
            yield space
        with self._lock:
            excess = sum(each.matrix.size for each in self._spaces.values()) - self._max_bytes
            for other, each in list(self._spaces.items())[:-1]:
                if excess <= 0:
                    return
                del self._spaces[other]
                excess -= each.matrix.size

"""Compare entries with a query by vectors that are made when they are searched, and not stored.

So a change of such an entry costs no write of its vector. Vectors of entries that haven't changed
are remembered by the process.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from threading import Lock

from functions.entries.model import Entry
from functions.platform.parallel import run_parallel
from functions.search.text import extract_text
from functions.vectors.model import Embed, Vector

_MAX_REMEMBERED = 20_000  # vectors, of 1 KB each


class TextVectors:
    """The meanings of entries' texts. Safe for use by several threads."""

    def __init__(self, embed_meaning: Embed) -> None:
        self._embed_meaning = embed_meaning
        self._lock = Lock()
        self._meanings: OrderedDict[str, tuple[int, Vector]] = OrderedDict()

    def compute_cosines(self, meaning: Vector, entries: Sequence[Entry]) -> dict[str, float]:
        """Compute the cosine of each entry's meaning and a query's, by the entry's id.

        Entries without words are left out.
        """
        import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

        texts = {each.id: text for each in entries if (text := extract_text(each)) is not None}
        if not texts:
            return {}
        found = [each for each in entries if each.id in texts]
        jobs = [partial(self._get_meaning, each, texts[each.id]) for each in found]
        numbers = b"".join(each.tobytes() for each in run_parallel(jobs))
        rows = np.frombuffer(numbers, np.float32).reshape(len(found), -1)
        wanted = np.frombuffer(meaning, np.float32)
        cosines = np.minimum(rows @ wanted, 1.0).tolist()
        return {each.id: cosine for each, cosine in zip(found, cosines, strict=True)}

    def _get_meaning(self, entry: Entry, text: str) -> Vector:
        with self._lock:
            version, meaning = self._meanings.get(entry.id, (0, None))
            if meaning is not None and version == entry.version:
                self._meanings.move_to_end(entry.id)
                return meaning
        meaning = self._embed_meaning(text)
        with self._lock:
            self._meanings[entry.id] = entry.version, meaning
            self._meanings.move_to_end(entry.id)
            if len(self._meanings) > _MAX_REMEMBERED:
                self._meanings.popitem(last=False)
        return meaning

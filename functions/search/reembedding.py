"""Embed all entries and facts again in the background, after a change of model or index.

One item has the format of all vectors. When the settings choose another format, the item becomes
due, and records the progress of a pass over the table. So sweeps can continue each other's work,
and after a crash a page is repeated.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.facts.service import Facts
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.observability import log_unexpected
from functions.platform.parallel import run_parallel
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.search.store import EmbeddingProgress
from functions.vectors.factory import DEFAULT_FORMAT
from functions.vectors.model import NO_MODEL

_SECOND_PASS_DELAY = 3_600_000  # ms; functions with the old settings may write during a pass


@dataclass(eq=False)
class Reembedding:
    """Embeds all entries and facts in the current format. Two processes may run at once."""

    _progress: EmbeddingProgress
    _mapper: EntryMapper
    _entries: EmbeddingIndexer
    _facts: Facts
    _clock: Clock
    _format_name: str
    _is_checked: bool = field(default=False, init=False)

    def start_if_needed(self) -> Counter[str]:
        """Start a pass if the settings have changed; a process checks it once, by one read."""
        if self._is_checked:
            return Counter()
        progress = self._progress.get() or {"vector_format": DEFAULT_FORMAT}
        is_changed = progress["vector_format"] != self._format_name
        if is_changed:
            due = None if self._format_name == NO_MODEL else self._clock()
            self._progress.start(self._format_name, due)
        self._is_checked = True
        return Counter(reembedding_started=int(is_changed))

    def resume(self, progress: Item, seconds: float) -> Counter[str]:
        """Resume a pass until the time runs out; return the number of embedded items."""
        if progress["vector_format"] != self._format_name:
            return Counter()
        counts: Counter[str] = Counter()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            page, after = self._progress.scan_embedded(progress.get("after"))
            entries = (self._decode_entry(item) for item in page if "learned_by" not in item)
            jobs = self._entries.reembedding_jobs(filter(None, entries))
            jobs += self._facts.reembedding_jobs(item for item in page if "learned_by" in item)
            counts += Counter(run_parallel([partial(_run_job, job) for job in jobs]))
            following, due = self._advance(progress, after)
            if not self._progress.save(following, progress, due) or after is None:
                return counts
            progress = following
        return counts + Counter(stopped=1)

    def _decode_entry(self, item: Item) -> Entry | None:
        try:
            return self._mapper.find_entry(item)
        except Exception as error:  # noqa: BLE001 - a broken entry doesn't stop the others
            log_unexpected(error)
            return None

    def _advance(self, progress: Item, after: Key | None) -> tuple[Item, int | None]:
        """Return the progress after a page, with the due time of the next page or pass."""
        now, pages = self._clock(), progress["pages"] + 1
        if after is not None:
            return progress | {"pages": pages, "after": after}, now
        ended = {"vector_format": self._format_name, "pages": pages, "is_last": True}
        return ended, None if progress["is_last"] else now + _SECOND_PASS_DELAY


def _run_job(job: Callable[[], None]) -> str:
    try:
        job()
    except ServiceError:
        raise
    except Exception as error:  # noqa: BLE001 - a broken entry doesn't stop the others
        log_unexpected(error)
        return "failed"
    return "embedded"

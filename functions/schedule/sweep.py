"""The sweep: process all that is due, in bounded time.

It reads what is due afresh each time, so it has no state, and two sweeps may run at once: every
removal has the state that it saw as its condition.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from functions.entries.removals import ExpiredEntries
from functions.platform.clock import Clock
from functions.platform.due_index import DueIndex
from functions.platform.errors import ServiceError
from functions.platform.item_types import PRIVATE_ENTRY, ItemType, find_due_type
from functions.platform.items import Item
from functions.platform.keys import DUE_SHARDS
from functions.platform.observability import log_unexpected, logger
from functions.platform.schema import DUE_ATTRIBUTE
from functions.schedule.jobs import HasTime, Job
from functions.schedule.rules import group_removals, rotate_shards

Run = Callable[[], Counter[str]]


class SweepResult(NamedTuple):
    """What a sweep did.

    Attributes:
        counts: how many of each kind.
        lag: how late the longest due item was, in ms.
    """

    counts: Counter[str]
    lag: int


class Sweep:
    """Finds what is due and runs its jobs; what fails stays due for the next sweep.

    Args:
        index: finds what is due.
        entries: removes expired entries.
        jobs: those of all other types of items.
        start: runs before each sweep.
        threads: how many shards are swept in parallel.
    """

    def __init__(
        self,
        index: DueIndex,
        entries: ExpiredEntries,
        jobs: Mapping[ItemType, Job],
        start: Run,
        clock: Clock,
        threads: int,
    ) -> None:
        self._index = index
        self._entries = entries
        self._jobs = jobs
        self._start = start
        self._clock = clock
        self._threads = threads

    def run(self, has_time: HasTime) -> SweepResult:
        """Sweep every shard, as long as there is time."""
        started = _run_safely(self._start)
        now = self._clock()
        sweep_shard = partial(self._sweep_shard, now=now, has_time=has_time)
        with ThreadPoolExecutor(self._threads, thread_name_prefix="sweep") as pool:
            results = list(pool.map(sweep_shard, rotate_shards(DUE_SHARDS, now)))
        counts = sum((each.counts for each in results), started)
        return SweepResult(+counts, max(each.lag for each in results))

    def _sweep_shard(self, shard: str, now: int, has_time: HasTime) -> SweepResult:
        counts: Counter[str] = Counter()
        lags = [0]
        try:
            for items in self._index.read_shard(shard, now):
                lags += [now - item[DUE_ATTRIBUTE] for item in items[:1]]
                for run in self._plan(items, has_time):
                    if not has_time():
                        return SweepResult(counts + Counter(stopped=1), max(lags))
                    counts += _run_safely(run)
        except ServiceError as error:
            logger.warning("sweep", extra={"code": error.code, "shard": shard})
            counts["failed"] += 1
        return SweepResult(counts, max(lags))

    def _plan(self, items: list[Item], has_time: HasTime) -> Iterator[Run]:
        """Give what is to be run for due items, expired entries first."""
        types = [find_due_type(item["sk"]) for item in items]
        both = list(zip(items, types, strict=True))
        for group in group_removals(item for item, type in both if type is PRIVATE_ENTRY):
            yield partial(self._expire, group)
        for item, type in both:
            job = None if type is None else self._jobs.get(type)
            if job is not None:
                yield partial(job, item, has_time)

    def _expire(self, items: list[Item]) -> Counter[str]:
        """Remove entries of one partition; one that can't be read or written stays alone."""
        try:
            return Counter(expired=self._entries.remove(items))
        except ServiceError:
            raise
        except Exception:
            if len(items) == 1:
                raise
        each_alone = (_run_safely(partial(self._expire, [item])) for item in items)
        return sum(each_alone, Counter[str]())


def _run_safely(run: Run) -> Counter[str]:
    """Run a job and count what it did; its failure doesn't stop the others."""
    try:
        return run()
    except ServiceError as error:
        logger.warning("sweep", extra={"code": error.code})
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is due as well
        log_unexpected(error)
    return Counter(failed=1)

"""The sweep: process due items in bounded time.

It reads due items each time, so it has no state, and two sweeps may run at once: every removal has
the condition that the item is unchanged.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from functions.entries.delete import ExpiredEntries
from functions.entries.tiers import SEMANTIC
from functions.platform.clock import Clock, HasTime
from functions.platform.due_index import DueIndex
from functions.platform.errors import ServiceError
from functions.platform.item_types import PRIVATE_ENTRY, ItemType, find_due_type
from functions.platform.items import Item
from functions.platform.keys import DUE_SHARDS, DueKey, Key, get_tenant
from functions.platform.limits import MAX_GET_ITEMS, MAX_SWEPT_ITEMS
from functions.platform.observability import log_service_error, log_unexpected

Run = Callable[[], Counter[str]]
Job = Callable[[Item, HasTime], Counter[str]]
"""Processes a due item and returns counts; an unfinished item stays due."""
_LISTED_TOGETHER = 1000  # rows between two checks of the time
_MAX_REMOVAL_WRITES = 92  # of DynamoDB's 100


class TurnQueue:
    """Due items by tenant; tenants take turns, and each turn has a tenant's longest due items.

    Args:
        capacity: the maximum number of items of one tenant. The rest stays due: a tenant with very
            many items neither fills the memory nor delays others' items.

    Attributes:
        first: the due time of the longest due item, in epoch ms.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._due: dict[str, list[DueKey]] = {}
        self.first = sys.maxsize

    def add(self, found: DueKey) -> None:
        """Add a due item, unless its tenant has reached the capacity."""
        self.first = min(self.first, found.due)
        due = self._due.setdefault(get_tenant(found.key[0]), [])
        if len(due) < self._capacity:
            due.append(found)

    def iterate_turns(self, size: int) -> Iterator[list[Key]]:
        """Yield turns of up to `size` items: one turn of each tenant, then the next of each."""
        due = [sorted(each) for each in self._due.values()]
        for start in range(0, max(map(len, due), default=0), size):
            for of_tenant in due:
                if turn := [each.key for each in of_tenant[start : start + size]]:
                    yield turn


@dataclass(eq=False)
class Sweep:
    """Finds due items and runs their jobs; failed items stay due for the next sweep.

    Tenants take turns, so that no tenant waits for all items of another one.

    Args:
        jobs: those of all other types of items.
        start: runs before each sweep.
    """

    _index: DueIndex
    _entries: ExpiredEntries
    _jobs: Mapping[ItemType, Job]
    _start: Run
    _clock: Clock
    _threads: int

    def run(self, has_time: HasTime, part: int, parts: int) -> tuple[Counter[str], int]:
        """Sweep the shards of a part, as long as there is time.

        Args:
            part: its number, from 0; part 0 of 1 has all due items.

        Returns:
            The counts by kind, and the delay of the longest due item, in ms.
        """
        counts = _run_safely(self._start) if part == 0 else Counter[str]()
        now, queue = self._clock(), TurnQueue(MAX_SWEPT_ITEMS)
        shards = DUE_SHARDS[part::parts]
        with ThreadPoolExecutor(self._threads, thread_name_prefix="sweep") as pool:
            fill = partial(self._fill, queue, now=now, has_time=has_time)
            counts = sum(pool.map(fill, shards), counts)
            take = partial(self._take_turn, now=now, has_time=has_time)
            counts = sum(pool.map(take, queue.iterate_turns(MAX_GET_ITEMS)), counts)
        return +counts, max(now - queue.first, 0)

    def _fill(self, queue: TurnQueue, shard: str, now: int, has_time: HasTime) -> Counter[str]:
        """Add due items of a shard to the queue, as long as there is time."""
        try:
            for number, each in enumerate(self._index.list_shard(shard, now), start=1):
                queue.add(each)
                if number % _LISTED_TOGETHER == 0 and not has_time():
                    break
        except ServiceError as error:
            log_service_error("sweep", error, shard=shard)
            return Counter(failed=1)
        return Counter()

    def _take_turn(self, keys: list[Key], now: int, has_time: HasTime) -> Counter[str]:
        """Process the due items of some keys, until the time runs out."""
        if not has_time():
            return Counter(stopped=1)
        try:
            items = self._index.get_due(keys, now)
        except ServiceError as error:
            log_service_error("sweep", error)
            return Counter(failed=1)
        counts: Counter[str] = Counter()
        for run in self._plan(items, has_time):
            counts += _run_safely(run)
            if not has_time():
                return counts + Counter(stopped=1)
        return counts

    def _plan(self, items: list[Item], has_time: HasTime) -> Iterator[Run]:
        """Yield the calls for due items, expired entries first."""
        types = [find_due_type(item["sk"]) for item in items]
        both = list(zip(items, types, strict=True))
        for group in group_removals(item for item, type in both if type is PRIVATE_ENTRY):
            yield partial(self._expire, group)
        for item, type in both:
            job = None if type is None else self._jobs.get(type)
            if job is not None:
                yield partial(job, item, has_time)

    def _expire(self, items: list[Item]) -> Counter[str]:
        """Remove entries of one tenant; an entry that can't be read or written stays."""
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
    """Run a job and add its counts; its failure doesn't stop the others."""
    try:
        return run()
    except ServiceError as error:
        log_service_error("sweep", error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is due as well
        log_unexpected(error)
    return Counter(failed=1)


def group_removals(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Group items of entries by tenant so that one transaction can remove a group.

    Entries in a task are grouped by owner: a task counts by agent.
    """
    for _, group in groupby(sorted(items, key=_get_order), lambda item: _get_order(item)[0]):
        batch: list[Item] = []
        owners: set[str] = set()
        total = 0
        for item in group:
            writes = count_removal_writes(item, owners)
            if batch and total + writes > _MAX_REMOVAL_WRITES:
                yield batch
                batch, owners, total = [], set(), 0
                writes = count_removal_writes(item, owners)
            batch.append(item)
            owners.add(item["pk"])
            total += writes
        yield batch


def count_removal_writes(item: Item, owners: Collection[str] = ()) -> int:
    """Compute a removal's maximum of writes: entry, tombstone, index rows, agent, task.

    Args:
        owners: the partitions whose counters are counted already.
    """
    rows = 1 + len(item.get("tags", ())) if item.get("memory_type") == SEMANTIC.name else 0
    return 2 + rows + (item["pk"] not in owners) + ("task_id" in item)


def _get_order(item: Item) -> tuple[str, str]:
    """Return the key by which an item is grouped, then its partition."""
    partition: str = item["pk"]
    return (partition if "task_id" in item else get_tenant(partition)), partition

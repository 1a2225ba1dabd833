"""Decide who sweeps what, whose turn it is, and what one transaction removes."""

import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby

from functions.entries.tiers import SEMANTIC
from functions.platform.items import Item
from functions.platform.keys import DueKey, Key, get_tenant

_MAX_REMOVAL_WRITES = 92  # of DynamoDB's 100


class TurnQueue:
    """Tells what is due, by tenant; tenants take turns, and each turn is the longest due of one.

    Args:
        capacity: how many items of one tenant are kept at most. The rest stays due: a tenant whose
            items fill shard after shard neither fills the memory nor hides others' items.

    Attributes:
        first: since when the longest due item is due, in epoch ms.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._due: dict[str, list[DueKey]] = {}
        self.first = sys.maxsize

    def add(self, found: DueKey) -> None:
        """Add an item that is due, unless its tenant has enough."""
        self.first = min(self.first, found.due)
        due = self._due.setdefault(get_tenant(found.key[0]), [])
        if len(due) < self._capacity:
            due.append(found)

    def iterate_turns(self, size: int) -> Iterator[list[Key]]:
        """Give turns of up to `size` items: one of each tenant, then the next one of each."""
        due = [sorted(each) for each in self._due.values()]
        for start in range(0, max(map(len, due), default=0), size):
            for of_tenant in due:
                if turn := [each.key for each in of_tenant[start : start + size]]:
                    yield turn


def group_removals(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Group entries' items so that one transaction can remove a group: of one tenant each.

    Entries that a task counts stay with those of their owner: a task counts by agent.
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
    """Count a removal's writes, at most: entry, tombstone, index rows, an agent's and a task's.

    Args:
        owners: the partitions whose counters are counted already.
    """
    rows = 1 + len(item.get("tags", ())) if item.get("memory_type") == SEMANTIC.name else 0
    return 2 + rows + (item["pk"] not in owners) + ("task_id" in item)


def _get_order(item: Item) -> tuple[str, str]:
    """Return what an item is grouped by, then its partition."""
    partition: str = item["pk"]
    return (partition if "task_id" in item else get_tenant(partition)), partition

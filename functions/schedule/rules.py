"""Decide the order of a sweep, and what one transaction removes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from functions.entries.tiers import SEMANTIC
from functions.platform.items import Item

_MAX_REMOVAL_WRITES = 90  # of DynamoDB's 100, since the agent's counters come along
_ROTATION = 60_000  # ms


def rotate_shards(shards: Sequence[str], now: int) -> list[str]:
    """Order the shards, each minute from another one on, so that none is always the last."""
    first = now // _ROTATION % len(shards)
    return [*shards[first:], *shards[:first]]


def group_removals(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Group entries' items so that one transaction can remove a group: of one partition each."""
    for _, group in groupby(sorted(items, key=_get_partition), _get_partition):
        batch: list[Item] = []
        total = 0
        for item in group:
            writes = count_removal_writes(item)
            if batch and total + writes > _MAX_REMOVAL_WRITES:
                yield batch
                batch, total = [], 0
            batch.append(item)
            total += writes
        yield batch


def count_removal_writes(item: Item) -> int:
    """Count a removal's writes, at most: entry, tombstone, index rows and a task's counters."""
    rows = 1 + len(item.get("tags", ())) if item.get("tier") == SEMANTIC.name else 0
    return 2 + rows + ("task" in item)


def _get_partition(item: Item) -> str:
    partition: str = item["pk"]
    return partition

"""What a sweep decides without looking at anything but its arguments."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal

from functions.platform.conversation_keys import CONVERSATION_SORT, REMAINS_PREFIX
from functions.platform.items import Item
from functions.platform.snapshot_keys import ENTRY_PREFIX, MEMORY_SORT
from functions.platform.vector_keys import EMBEDDING_ITEM

_MOST_WRITES = 90  # of DynamoDB's 100, since the agent's counters come along
_TURN = 60_000  # ms


Kind = Literal[
    "entry",
    "agent",
    "task",
    "conversation",
    "remains",
    "memory",
    "memory entry",
    "embedding",
    "unknown",
]
_BY_SORT: dict[str, Kind] = {
    "a": "agent",
    "t": "task",
    CONVERSATION_SORT: "conversation",
    MEMORY_SORT: "memory",
    EMBEDDING_ITEM[1]: "embedding",
}
_BY_PREFIX: dict[str, Kind] = {
    "e#": "entry",
    REMAINS_PREFIX: "remains",
    ENTRY_PREFIX: "memory entry",
}


def kind_of(item: Item) -> Kind:
    """What a due item is, by its sort key."""
    sort: str = item["sk"]
    if sort in _BY_SORT:
        return _BY_SORT[sort]
    return next((kind for prefix, kind in _BY_PREFIX.items() if sort.startswith(prefix)), "unknown")


def in_turn(shards: Sequence[str], now: int) -> list[str]:
    """The shards, each minute another first, so that a full first one can't starve the others."""
    first = now // _TURN % len(shards)
    return [*shards[first:], *shards[:first]]


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Entries' items as groups that one transaction can remove: of one owner, and not too many."""
    for _, owned in groupby(sorted(items, key=_owner), _owner):
        batch: list[Item] = []
        weight = 0
        for item in owned:
            more = writes_of_removal(item)
            if batch and weight + more > _MOST_WRITES:
                yield batch
                batch, weight = [], 0
            batch.append(item)
            weight += more
        yield batch


def writes_of_removal(item: Item) -> int:
    """At most how many writes a removal takes: entry and notice, index rows, a task's count."""
    rows = 1 + len(item.get("tags", ())) if item.get("tier") == "semantic" else 0
    return 2 + rows + ("task" in item)


def _owner(item: Item) -> str:
    owner: str = item["pk"]
    return owner

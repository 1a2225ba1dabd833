"""What a sweep decides without looking at anything but its arguments."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from functions.platform.item_types import find_due_type
from functions.platform.items import Item

_MOST_WRITES = 90  # of DynamoDB's 100, since the agent's counters come along
_TURN = 60_000  # ms


def kind_of(item: Item) -> str:
    """Name the type of a due item; "unknown", if it is none that may be due."""
    found = find_due_type(item["sk"])
    return "unknown" if found is None else found.name


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

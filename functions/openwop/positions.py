"""The order of all that happens to a memory: each write takes a position, higher than all before.

The clock only guesses it. That it is higher is a condition of the write itself, so the order is
that of the commits, whatever the clocks of the functions say (decision 20).
"""

from collections.abc import Callable, Sequence
from random import randint

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import Key, due_shard
from functions.platform.retry import Backoff
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.snapshot_keys import first_position, head_item
from functions.platform.table import ConditionFailed, Refused, Table
from functions.platform.writes import Write, update

_HIGHER = "attribute_not_exists(at_pos) OR at_pos < :pos"
_WRITTEN = "SET at_pos = :pos, second_sk = if_not_exists(newest_sk, :written), newest_sk = :written"
_SHARD = f"{DUE_SHARD_ATTRIBUTE} = :shard"
_ATTEMPTS, _SPREAD = 25, 64
_BUSY = "others are writing to this memory"


class Positions:
    """Gives out the positions of memories."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def commit(self, partition: str, writes: Callable[[int], Sequence[Write]]) -> int:
        """Carries out, as one transaction, the writes for a position; gives the position.

        The first of them must be what moves the memory's head. Mostly one call; one more where
        another write took as high a position.

        Raises:
            Refused: a condition failed beside that of the head.
            Throttled: others are quicker again and again.
        """
        place, head = head_item(partition), None
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            position = self._after(head)
            try:
                self._table.transact(writes(position))
            except Refused as refused:
                if refused.failed.keys() != {place}:
                    raise
                head = refused.failed[place]
                backoff.wait()
            else:
                return position

    def take(self, partition: str, due: int) -> Item:
        """Moves the head to a position for a new snapshot; the head as it is then.

        Raises:
            Throttled: others are quicker again and again.
        """
        head = None
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            position = self._after(head)
            try:
                return self._table.update(_of_start(partition, position, due))
            except ConditionFailed as failed:
                head = failed.item
                backoff.wait()

    def _after(self, head: Item | None) -> int:
        """A position for the next try, after that of the head which was seen, if one was.

        It isn't just the next one, which others try for as well; what is left out is less than a
        tenth of a millisecond.
        """
        reached = 0 if head is None else head["at_pos"] + randint(1, _SPREAD)  # noqa: S311
        return max(reached, first_position(self._clock()))


def of_put(entry: Key, position: int) -> Write:
    """Moves the head for a new entry."""
    return update(head_item(entry[0]), _WRITTEN, _HIGHER, pos=position, written=entry[1])


def of_removal(entry: Key, position: int, due: int) -> Write:
    """Moves the head for a deleted entry, which the schedule looks after from `due` on."""
    return update(
        head_item(entry[0]),
        f"{_WRITTEN}, {DUE_ATTRIBUTE} = :due, {_SHARD} ADD removals :one",
        _HIGHER,
        pos=position,
        written=entry[1],
        due=due,
        shard=due_shard(entry[0]),
        one=1,
    )


def _of_start(partition: str, position: int, due: int) -> Write:
    """Moves the head for a run; an earlier due time of the memory stays."""
    return update(
        head_item(partition),
        f"SET at_pos = :pos, run_pos = :pos, {DUE_ATTRIBUTE} = if_not_exists({DUE_ATTRIBUTE}, :due)"
        f", {_SHARD}",
        _HIGHER,
        pos=position,
        due=due,
        shard=due_shard(partition),
    )

"""Sequence numbers: each write of a memory takes one that is higher than all before.

The clock only proposes a number. That it is higher is a condition of the write itself, so the order
is that of the commits, whatever the clocks of the functions say.
"""

from collections.abc import Callable, Sequence
from random import randint

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.openwop_keys import build_memory_key, get_first_sequence
from functions.platform.retry import Backoff
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table, TransactionConditionFailed
from functions.platform.writes import Write, check, update

_IS_HIGHER = "attribute_not_exists(seq) OR seq < :seq"
_SET_WRITTEN = (
    "SET seq = :seq, second_sk = if_not_exists(newest_sk, :written), newest_sk = :written"
)
_SET_DUE = f"{DUE_ATTRIBUTE} = :due, {DUE_SHARD_ATTRIBUTE} = :shard"
_ATTEMPTS, _MAX_SKIPPED = 25, 64
_BUSY = "others are writing to this memory"


class SequenceNumbers:
    """Takes sequence numbers of memories, on the head item of each."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def commit(self, partition: str, build_writes: Callable[[int], Sequence[Write]]) -> int:
        """Carry out the writes for a sequence number as one transaction; return the number.

        One of them must advance the memory's head. One call, and one more for each time that
        another write took as high a number.

        Raises:
            TransactionConditionFailed: a condition other than the head's failed.
            Throttled: others were faster in every attempt.
        """
        key, head = build_memory_key(partition), None
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            number = self._next(head)
            try:
                self._table.transact(build_writes(number))
            except TransactionConditionFailed as refused:
                if refused.failed.keys() != {key}:
                    raise
                head = refused.failed[key]
            else:
                return number
            backoff.wait()

    def take_snapshot(self, partition: str, due: int) -> Item:
        """Advance the head to the number of a new snapshot, and return the head.

        An earlier due time of the memory stays.

        Raises:
            Throttled: others were faster in every attempt.
        """
        head = None
        expression = (
            f"SET seq = :seq, snapshot_seq = :seq, {DUE_SHARD_ATTRIBUTE} = :shard, "
            f"{DUE_ATTRIBUTE} = if_not_exists({DUE_ATTRIBUTE}, :due)"
        )
        values = {"due": due, "shard": get_due_shard(partition)}
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            number = self._next(head)
            try:
                return self._table.update(
                    update(
                        build_memory_key(partition), expression, _IS_HIGHER, seq=number, **values
                    )
                )
            except ConditionFailed as failed:
                head = failed.item
            backoff.wait()

    def reschedule(self, head: Item, due: int | None) -> None:
        """Replace the due time that `head` carries, or remove it; a newer one stays."""
        condition = (
            f"{DUE_ATTRIBUTE} = :seen AND "
            "(attribute_not_exists(snapshot_seq) OR snapshot_seq = :snapshot)"
        )
        values = {"seen": head[DUE_ATTRIBUTE], "snapshot": head.get("snapshot_seq", 0)}
        expression = f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}"
        if due is not None:
            expression = f"SET {_SET_DUE}"
            values |= {"due": due, "shard": get_due_shard(head["pk"])}
        try:
            self._table.update(
                update(build_memory_key(head["pk"]), expression, condition, **values)
            )
        except ConditionFailed:
            return

    def _next(self, head: Item | None) -> int:
        """Propose a number, after that of the head if one was seen.

        Not always the very next one, which others try for as well; what is skipped is less than a
        tenth of a millisecond.
        """
        least = 0 if head is None else head["seq"] + randint(1, _MAX_SKIPPED)  # noqa: S311
        return max(least, get_first_sequence(self._clock()))


def advance_for_put(entry: Key, number: int) -> Write:
    """Advance the head for a new entry."""
    return update(
        build_memory_key(entry[0]), _SET_WRITTEN, _IS_HIGHER, seq=number, written=entry[1]
    )


def advance_for_delete(entry: Key, number: int, due: int) -> Write:
    """Advance the head for a deleted entry, which the schedule looks at from `due` on."""
    return update(
        build_memory_key(entry[0]),
        f"{_SET_WRITTEN}, {_SET_DUE} ADD deletions :one",
        _IS_HIGHER,
        seq=number,
        written=entry[1],
        due=due,
        shard=get_due_shard(entry[0]),
        one=1,
    )


def set_due(partition: str, due: int) -> Write:
    """Make a memory due for the schedule."""
    return update(
        build_memory_key(partition), f"SET {_SET_DUE}", due=due, shard=get_due_shard(partition)
    )


def check_no_deletion_since(partition: str, head: Item) -> Write:
    """Check that nothing was deleted from the memory since `head` was read."""
    if "deletions" not in head:
        return check(build_memory_key(partition), "attribute_not_exists(deletions)")
    return check(build_memory_key(partition), "deletions = :seen", seen=head["deletions"])


def newest_entry_keys(partition: str, head: Item) -> set[Key]:
    """Get the keys of the last two entries that were written or deleted."""
    return {(partition, head[name]) for name in ("newest_sk", "second_sk") if name in head}

"""What the schedule does for memories: what no run sees any more leaves storage (contract §7)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from functions.openwop.items import entry_of
from functions.openwop.rules import GRACE, SETTLED, is_held, is_settled
from functions.openwop.writes import forgetting
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import due_shard
from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.snapshot_keys import (
    HOLD_PREFIX,
    REMOVAL_PREFIX,
    entry_item,
    head_item,
    position_of,
    secrets_item,
)
from functions.platform.table import ConditionFailed, Refused, Table
from functions.platform.writes import Write, delete, update

_AT_ONCE = 25
_SAME_RUNS = "(attribute_not_exists(run_pos) OR run_pos = :run)"
Unit = list[Write]  # what goes together or not at all


class Upkeep:
    """Looks after memories that are due, and after entries that have expired."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def look_after(self, head: Item, time_left: Callable[[], bool]) -> Counter[str]:
        """Takes runs past their time, and deleted entries that no run sees, out of storage.

        `head` is the memory's item. Its mark stays if the time is over, so that the next sweep
        goes on.
        """
        partition, now = head["pk"], self._clock()
        holds = list(self._table.query(partition, HOLD_PREFIX))
        over = [hold for hold in holds if hold["deadline"] + GRACE <= now]
        held = [hold for hold in holds if hold["deadline"] + GRACE > now]
        self._remove(_closing(hold) for hold in over)
        done = Counter(runs_over=len(over))
        removals = self._table.query(partition, REMOVAL_PREFIX)
        unsettled = False
        while rows := list(islice(removals, _AT_ONCE)):
            if not time_left():
                return +done
            done["forgotten"] += self._forget(rows, held, now)
            unsettled |= any(not is_settled(position_of(row["sk"]), now) for row in rows)
        self._put_off(head, _next_look(held, now, unsettled=unsettled))
        return +done

    def expire(self, item: Item) -> Counter[str]:
        """Takes an entry that has expired, by its item, out of storage."""
        self._remove([forgetting(item["pk"], entry_of(item))])
        return Counter(expired=1)

    def _forget(self, rows: Sequence[Item], held: Sequence[Item], now: int) -> int:
        """Takes out the deleted entries that no open run sees; how many."""
        snapshots = [position_of(hold["sk"]) for hold in held]
        free = [row for row in rows if _is_free(row, snapshots, now)]
        places = {entry_item(row["pk"], row["at_pos"]): row for row in free}
        entries = self._table.get_many(places)
        self._remove(_forgetting(row, entries.get(place)) for place, row in places.items())
        return len(free)

    def _remove(self, units: Iterable[Unit]) -> None:
        """Carries out deletes. What a condition protects belongs to another by now: it stays."""
        for group in _together(units):
            self._remove_together(group)

    def _remove_together(self, group: Unit) -> None:
        try:
            self._table.transact(group)
        except Refused as refused:
            rest = [write for write in group if write.key not in refused.failed]
            if rest:
                self._remove_together(rest)

    def _put_off(self, head: Item, until: int | None) -> None:
        """Moves the mark that `head` carries, or takes it away; a newer one stays."""
        partition = head["pk"]
        condition = f"{DUE_ATTRIBUTE} = :due AND {_SAME_RUNS}"
        seen = {"due": head[DUE_ATTRIBUTE], "run": head.get("run_pos", 0)}
        expression = f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}"
        if until is not None:
            expression = f"SET {DUE_ATTRIBUTE} = :until, {DUE_SHARD_ATTRIBUTE} = :shard"
            seen |= {"until": until, "shard": due_shard(partition)}
        try:
            self._table.update(update(head_item(partition), expression, condition, **seen))
        except ConditionFailed:
            return


def _is_free(row: Item, snapshots: Sequence[int], now: int) -> bool:
    removed = position_of(row["sk"])
    return is_settled(removed, now) and not is_held(row["at_pos"], removed, snapshots)


def _next_look(held: Sequence[Item], now: int, *, unsettled: bool) -> int | None:
    """When a memory is to be looked after again: soon, or when its first run's time is over."""
    if unsettled:
        return now + SETTLED
    return min((hold["deadline"] + GRACE for hold in held), default=None)


def _closing(hold: Item) -> Unit:
    """Takes out what is left of a run whose time is over."""
    return [delete((hold["pk"], hold["sk"])), delete(secrets_item(hold["pk"], hold["run"]))]


def _forgetting(row: Item, entry: Item | None) -> Unit:
    unit = [delete((row["pk"], row["sk"]))]
    return unit if entry is None else [*unit, *forgetting(row["pk"], entry_of(entry))]


def _together(units: Iterable[Unit]) -> Iterator[Unit]:
    """As many units at a time as one transaction holds."""
    group: Unit = []
    for unit in units:
        if len(group) + len(unit) > MAX_TRANSACTION_WRITES:
            yield group
            group = []
        group += unit
    if group:
        yield group

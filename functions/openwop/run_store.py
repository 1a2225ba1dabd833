"""Runs on memories: their items, secrets and snapshot pins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from functions.openwop.model import MemoryRun, OnSecret
from functions.openwop.rules import CLOCK_SKEW
from functions.openwop.sequence_store import (
    check_no_deletion_since,
    newest_entry_keys,
    set_due,
)
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import SNAPSHOT_PIN
from functions.platform.items import Item
from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.platform.openwop_keys import (
    build_memory_run_key,
    build_run_secrets_key,
    build_snapshot_pin_key,
    parse_sequence,
)
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import Write, check, delete, put, update

_ABSENT = "attribute_not_exists(pk)"
_ALWAYS = f"{_ABSENT} OR attribute_exists(pk)"
_DAY = 86_400_000  # ms


@dataclass(frozen=True, slots=True)
class SnapshotPin:
    """Keeps what a run's snapshot shows in storage; `deadline` is epoch ms."""

    partition: str
    run: str
    snapshot: int
    deadline: int


class RunConflict(Exception):
    """A run was not opened; `run` is the one that an earlier try opened, if that is the cause."""

    def __init__(self, run: MemoryRun | None) -> None:
        super().__init__("the run was not opened")
        self.run = run


class MemoryRunStore:
    """Reads and writes runs; all reads are strongly consistent."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, partition: str, run: str) -> MemoryRun | None:
        """Read a run: one read."""
        return decode_run(run, self._table.get(build_memory_run_key(partition, run)))

    def get_with_secrets(self, partition: str, run: str) -> tuple[MemoryRun | None, Item | None]:
        """Read a run, and its encrypted secrets if it has any: one call."""
        keys = build_memory_run_key(partition, run), build_run_secrets_key(partition, run)
        items = self._table.get_many(keys)
        return decode_run(run, items.get(keys[0])), items.get(keys[1])

    def open(
        self,
        partition: str,
        run: MemoryRun,
        head: Item,
        secrets: Item | None,
        request: RequestToken,
    ) -> None:
        """Open a run on the snapshot at which the memory's head is.

        The last two entries are touched, so that DynamoDB waits for whoever is still writing them:
        what is in the snapshot is visible as a whole from the start on.

        Raises:
            RunConflict: an entry was deleted since the head was read, or an earlier try of the
                request opened the run.
            IdempotencyConflict: the request's key came with another body.
        """
        ttl = {TTL_ATTRIBUTE: to_ttl_seconds(run.deadline + CLOCK_SKEW)}
        key, pin = (
            build_memory_run_key(partition, run.id),
            {"run": run.id, "deadline": run.deadline},
        )
        writes = [
            check_no_deletion_since(partition, head),
            put(key, _encode(run, request), _ABSENT),
            put(build_snapshot_pin_key(partition, run.snapshot), pin | ttl),
            *([put(build_run_secrets_key(partition, run.id), secrets | ttl)] if secrets else []),
            *(check(entry, _ALWAYS) for entry in newest_entry_keys(partition, head)),
        ]
        try:
            self._table.transact(writes)
        except TransactionConditionFailed as refused:
            present = refused.failed.get(key)
            if present is not None:
                request.matches(present["request"])  # raises, if it had another body
            raise RunConflict(decode_run(run.id, present)) from refused

    def end(self, partition: str, run: MemoryRun, now: int) -> None:
        """End a run: delete its secrets and its pin, and make the memory due.

        Does nothing if somebody else has ended it.
        """
        key, ended = build_memory_run_key(partition, run.id), "attribute_not_exists(ended)"
        writes = [
            update(key, "SET ended = :yes", ended, yes=True),
            delete(build_run_secrets_key(partition, run.id)),
            delete(build_snapshot_pin_key(partition, run.snapshot)),
            set_due(partition, now + 1),
        ]
        try:
            self._table.transact(writes)
        except TransactionConditionFailed:
            return

    def list_pins(self, partition: str) -> list[SnapshotPin]:
        """Read the snapshot pins of a memory."""
        return [
            SnapshotPin(partition, item["run"], parse_sequence(item["sk"]), item["deadline"])
            for item in self._table.query(partition, SNAPSHOT_PIN.sort_prefix)
        ]

    def remove_pins(self, pins: Iterable[SnapshotPin]) -> None:
        """Delete pins and secrets of runs whose time is over."""
        units = [
            [
                delete(build_snapshot_pin_key(pin.partition, pin.snapshot)),
                delete(build_run_secrets_key(pin.partition, pin.run)),
            ]
            for pin in pins
        ]
        delete_units(self._table, units)


def check_run_open(partition: str, run: str, now: int) -> Write:
    """Check that a run is open."""
    condition = "deadline > :now AND attribute_not_exists(ended)"
    return check(build_memory_run_key(partition, run), condition, now=now)


def decode_run(run: str, item: Item | None) -> MemoryRun | None:
    """Decode the run of an item."""
    if item is None:
        return None
    on_secret: OnSecret = item["on_secret"]
    return MemoryRun(run, item["seq"], item["deadline"], on_secret, item.get("ended", False))


def delete_units(table: Table, units: Iterable[Sequence[Write]]) -> None:
    """Carry out deletes, each unit as a whole, in as few transactions as hold them.

    What a condition protects has changed since it was read, and stays.
    """
    group: list[Write] = []
    for unit in units:
        if len(group) + len(unit) > MAX_TRANSACTION_WRITES:
            _delete_group(table, group)
            group = []
        group += unit
    if group:
        _delete_group(table, group)


def _delete_group(table: Table, group: list[Write]) -> None:
    try:
        table.transact(group)
    except TransactionConditionFailed as refused:
        rest = [write for write in group if write.key not in refused.failed]
        if rest:
            _delete_group(table, rest)


def _encode(run: MemoryRun, request: RequestToken) -> Item:
    """Encode a run; it is kept a day longer, so that a caller learns that it is over."""
    return {
        "seq": run.snapshot,
        "deadline": run.deadline,
        "on_secret": run.on_secret,
        "request": request.stored,
        TTL_ATTRIBUTE: to_ttl_seconds(run.deadline + _DAY),
    }

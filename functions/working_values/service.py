"""Reads and writes of an instance's working values (ADR-043 Tier 1; contract §8).

All values of an instance stand in one item: its budget fits there, and a write that has the item
as it was read for its condition keeps the budget whatever runs in parallel.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded, NotFound
from functions.platform.instance_keys import instance_item
from functions.platform.items import Item
from functions.platform.jsontext import bounded_json
from functions.platform.keys import Key
from functions.platform.lifetimes import ttl_seconds
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Table
from functions.platform.values import pack, unpack
from functions.platform.writes import put
from functions.working_values.model import MOST_INSTANCE_BYTES, Held, WorkingValue

if TYPE_CHECKING:
    from functions.working_values.requests import NewWorkingValue

_ATTEMPTS = 40  # many writers of one instance take turns


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was read: the live values, and the state of the item that a write counts on."""

    held: Held
    state: str | None


class Instances:
    """The working values of the instances of a caller's tenant."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def put(self, caller: Principal, instance: str, key: str, new: NewWorkingValue) -> WorkingValue:
        """Stores a value for an hour: a read and a write.

        Raises:
            ValueTooLarge: it alone is over the instance's 131,072 bytes.
            CapacityExceeded: it is, together with the others.
        """
        text = bounded_json(new.value, "value", MOST_INSTANCE_BYTES)
        stored = WorkingValue(text, self._clock())

        def with_it(held: Held) -> Held:
            after = held | {key: stored}
            if size(after) > MOST_INSTANCE_BYTES:
                raise CapacityExceeded("working_bytes", size(held), MOST_INSTANCE_BYTES)
            return after

        self._change(instance_item(caller.tenant, instance), with_it)
        return stored

    def get(self, caller: Principal, instance: str, key: str) -> WorkingValue:
        """One value: one read.

        Raises:
            NotFound: there is none, or its hour is over.
        """
        held = self.all(caller, instance)
        if key not in held:
            raise _absent()
        return held[key]

    def all(self, caller: Principal, instance: str) -> Held:
        """All values of an instance: one read."""
        return self._seen(instance_item(caller.tenant, instance)).held

    def delete(self, caller: Principal, instance: str, key: str) -> None:
        """Removes a value: a read and a write.

        Raises:
            NotFound: there is none, or its hour is over.
        """

        def without_it(held: Held) -> Held:
            if key not in held:
                raise _absent()
            return {name: value for name, value in held.items() if name != key}

        self._change(instance_item(caller.tenant, instance), without_it)

    def _change(self, at: Key, change: Callable[[Held], Held]) -> None:
        backoff = Backoff("others are writing this instance's values", attempts=_ATTEMPTS)
        while True:
            seen = self._seen(at)
            after = change(seen.held)
            condition, values = _as_seen(seen)
            try:
                self._table.put(put(at, _item(after, self._clock()), condition, **values))
                return
            except ConditionFailed:
                backoff.wait()

    def _seen(self, at: Key) -> _Seen:
        item = self._table.get(at)
        if item is None:
            return _Seen({}, None)
        now = self._clock()
        stored = {
            key: WorkingValue(unpack(each["val"]), each["updated"])
            for key, each in item["vals"].items()
        }
        live = {key: value for key, value in stored.items() if value.expires > now}
        return _Seen(live, item["state_id"])


def size(held: Held) -> int:
    """How many bytes of its budget an instance's values take."""
    return sum(len(value.text) for value in held.values())


def _absent() -> NotFound:
    return NotFound("this instance holds no value under this key; values live for an hour")


def _as_seen(seen: _Seen) -> tuple[str, dict[str, str]]:
    if seen.state is None:
        return "attribute_not_exists(pk)", {}
    return "state_id = :seen", {"seen": seen.state}


def _item(held: Held, now: int) -> Item:
    last = max((value.expires for value in held.values()), default=now)
    return {
        "vals": {
            key: {"val": pack(value.text), "updated": value.updated} for key, value in held.items()
        },
        "state_id": secrets.token_hex(8),
        "ttl_at": ttl_seconds(last),
    }

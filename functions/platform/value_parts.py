"""Store values that one item can't hold: in parts, beside the item that they belong to.

Parts are written before the item that refers to them, and removed after nothing refers to them. A
marker says so in both cases: the schedule removes the parts of a writer that crashed in between.
Names of values are paths, `GENERATION#WRITER#NUMBER`: the marker of a path is one of all values
below it.
"""

import secrets
import time
from collections.abc import Sequence
from itertools import islice

from functions.platform import item_types
from functions.platform.bulk_writes import delete_items, write_parallel
from functions.platform.items import Item
from functions.platform.keys import Key, build_due_attributes
from functions.platform.limits import MAX_INLINE_BYTES, MAX_WRITE_ITEMS
from functions.platform.table import ConditionFailed, Store
from functions.platform.writes import Write, delete, put, update

STAGED_FOR = 15 * 60_000  # ms that a writer may take, far beyond a function's own limit
CLEANUP_SECONDS = 4.0  # that a request spends on removing
_PART_BYTES = 350_000  # of an item's 409,600
_NUMBER, _NAME, _IS_TEXT = "value_parts", "value_name", "value_is_text"


class PartsMissing(Exception):
    """The parts of a value were removed since its item was read."""


def create_value_name(*path: str) -> str:
    """Create the name of a value, or of the values of one writer, below a path."""
    return "#".join((*path, secrets.token_hex(8)))


def get_value_name(item: Item) -> str | None:
    """Get the name of an item's value, if it has one: what may have parts does."""
    return item.get(_NAME)


def has_parts(item: Item) -> bool:
    """Tell whether an item's value is stored in parts."""
    return _NUMBER in item


def get_parts_name(item: Item | None) -> str | None:
    """Get the name of a value that is stored in parts; None if there is none."""
    return get_value_name(item) if item is not None and has_parts(item) else None


def split_value(partition: str, name: str, item: Item) -> tuple[Item, list[Write]]:
    """Split the value off an item that it makes too large.

    Args:
        item: its attributes, as `ValueCodec.encode` makes them.

    Returns:
        The item that refers to the parts, and the writes of these: none if the value fits.
    """
    value = item["value"]
    text = value.encode() if isinstance(value, str) else value
    if len(text) <= MAX_INLINE_BYTES:
        return item | {_NAME: name}, []
    # A value of 800,000 bytes named "g#w" becomes the parts "g#w#0", "g#w#1" and "g#w#2"; the mark
    # of the path "g" stands for all of them, and for those of other values of the generation.
    parts = [text[at : at + _PART_BYTES] for at in range(0, len(text), _PART_BYTES)]
    whole = {key: attribute for key, attribute in item.items() if key != "value"}
    whole |= {_NAME: name, _NUMBER: len(parts), _IS_TEXT: isinstance(value, str)}
    return whole, [
        put(_build_part_key(partition, name, number), {"value": part})
        for number, part in enumerate(parts)
    ]


def mark_orphaned(item: Item | None, now: int) -> list[Write]:
    """Mark the parts of an item's value, in the transaction after which nothing refers to them.

    Nothing is to be marked where the value has no parts, or there is no item.
    """
    name = get_parts_name(item)
    if item is None or name is None:
        return []
    return [put(build_marker_key(item["pk"], name), build_due_attributes(item["pk"], now))]


def build_marker_key(partition: str, path: str) -> Key:
    """Build the key of the mark of values."""
    return partition, item_types.ORPHANED_VALUES.build_sort(path=path)


class ValueParts(Store):
    """Reads, writes and removes the parts of values."""

    def join(self, item: Item) -> Item:
        """Give an item the value that is stored in parts: one call; none if there are no parts."""
        if not has_parts(item):
            return item
        partition, name = item["pk"], item[_NAME]
        keys = [_build_part_key(partition, name, number) for number in range(item[_NUMBER])]
        found = self._table.get_many(keys)
        if len(found) < len(keys):
            raise PartsMissing
        value: bytes = b"".join(found[key]["value"] for key in keys)
        return item | {"value": value.decode() if item[_IS_TEXT] else value}

    def stage(
        self, partition: str, path: str | None, parts: Sequence[Write], now: int
    ) -> list[Write]:
        """Write parts that an item is going to refer to.

        Returns what belongs into the transaction that makes it refer to them: nothing without
        parts. It fails if they are being removed, because the writer took too long.
        """
        if path is None or not parts:
            return []
        key = build_marker_key(partition, path)
        self._table.put(put(key, build_due_attributes(partition, now + STAGED_FOR)))
        write_parallel(self._table, parts)
        return [delete(key, "attribute_exists(pk) AND attribute_not_exists(closing)")]

    def remove_orphaned(self, item: Item | None) -> None:
        """Remove the parts that `mark_orphaned` has marked; the schedule does what takes long."""
        for mark in mark_orphaned(item, 0):
            self.remove(mark.key, CLEANUP_SECONDS)

    def remove(self, key: Key, seconds: float) -> bool:
        """Remove marked values for at most so long; whether none are left.

        Args:
            key: of the mark.
        """
        deadline = time.monotonic() + seconds
        try:
            self._table.update(update(key, "SET closing = :yes", "attribute_exists(pk)", yes=True))
        except ConditionFailed:
            return True
        partition, sort = key
        if not self.remove_below(partition, item_types.ORPHANED_VALUES.parse(sort), deadline):
            return False
        write_parallel(self._table, [delete(key)])
        return True

    def remove_below(self, partition: str, path: str, deadline: float) -> bool:
        """Remove the parts of all values below a path until a time; whether none are left.

        Args:
            deadline: of the monotonic clock, in seconds.
        """
        prefix = f"{item_types.VALUE_PART.sort_prefix}{path}#"
        found = self._table.query(partition, prefix)
        while group := list(islice(found, MAX_WRITE_ITEMS)):
            if time.monotonic() >= deadline:
                return False
            delete_items(self._table, group)
        return True


def _build_part_key(partition: str, name: str, number: int) -> Key:
    return partition, item_types.VALUE_PART.build_sort(name=name, number=number)

"""Stage items that exceed one transaction, and delete unreferenced ones.

Staged items are written before the item that refers to them. A marker names them: it is written
before them, removed by the transaction that shows them (`show`), and written again by the
transaction that hides them (`hide`). So the schedule finds and deletes the items of a crashed
writer, and replaced items. A sweep first closes the marker: then `show` fails.

Values that exceed an item are staged as parts beside it. Their names are paths,
`GENERATION#WRITER#NUMBER`: the marker of a path covers all values below it.
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from functions.platform.bulk_writes import delete_items, write_parallel
from functions.platform.item_types import (
    APPEND_REQUEST,
    MESSAGE,
    ORPHANED_MESSAGES,
    ORPHANED_VALUES,
    USE,
    VALUE_PART,
)
from functions.platform.items import Item
from functions.platform.keys import Key, build_due_attributes
from functions.platform.limits import MAX_INLINE_BYTES, STAGED_LIFETIME
from functions.platform.table import ConditionFailed, Store
from functions.platform.writes import Write, delete, put, update

IS_OPEN = "attribute_exists(pk) AND attribute_not_exists(closing)"
_EXISTS = "attribute_exists(pk)"
_CLEANUP_SECONDS = 4.0  # that a request spends on deleting; the schedule does the rest
_BATCH = 100  # items between two checks of the time; parts of values have 350 KB each
_PART_BYTES = 350_000  # of an item's 409,600
_NUMBER, _NAME, _IS_TEXT = "value_parts", "value_name", "value_is_text"
_BELOW = {
    ORPHANED_VALUES: (VALUE_PART,),
    ORPHANED_MESSAGES: (MESSAGE, USE, APPEND_REQUEST, VALUE_PART),
}
"""The types of the items below the path of a marker."""


class PartsMissing(Exception):
    """The parts of a value were removed since its item was read."""


def stage(key: Key, now: int) -> Write:
    """Build the write of a marker; it is written before its items."""
    return hide(key, now + STAGED_LIFETIME)


def show(key: Key) -> Write:
    """Build the write for the transaction that shows staged items."""
    return delete(key, IS_OPEN)


def hide(key: Key, now: int, **attributes: int) -> Write:
    """Build the write for the transaction that removes the last reference to items."""
    return put(key, attributes | build_due_attributes(key[0], now))


def create_value_name(*path: str) -> str:
    """Create the name of a value, or of the values of one writer, below a path."""
    return "#".join((*path, secrets.token_hex(8)))


def has_parts(item: Item) -> bool:
    """Tell whether an item's value is stored in parts."""
    return _NUMBER in item


def split_value(
    partition: str, name: str, item: Item, **attributes: int | None
) -> tuple[Item, list[Write]]:
    """Split a value that is too large from its item.

    Args:
        item: its attributes, as `ValueCodec.encode` makes them.
        attributes: those of each part beside its bytes.

    Returns:
        The item that refers to the parts, and the writes of the parts: none if the value fits.
    """
    value = item["value"]
    text = value.encode() if isinstance(value, str) else value
    if len(text) <= MAX_INLINE_BYTES:
        return item, []
    # A value of 800,000 bytes named "g#w" becomes the parts "g#w#0", "g#w#1" and "g#w#2"; the
    # marker of the path "g" covers them, and other values of the generation.
    parts = [text[at : at + _PART_BYTES] for at in range(0, len(text), _PART_BYTES)]
    whole = {key: attribute for key, attribute in item.items() if key != "value"}
    whole |= {_NAME: name, _NUMBER: len(parts), _IS_TEXT: isinstance(value, str)}
    return whole, [
        put(
            VALUE_PART.build_key_in(partition, name=name, number=number),
            {"value": part} | attributes,
        )
        for number, part in enumerate(parts)
    ]


def hide_parts(item: Item | None, now: int) -> list[Write]:
    """Build `hide` of the parts of an item's value: nothing if there are none."""
    if item is None or not has_parts(item):
        return []
    return [hide(ORPHANED_VALUES.build_key_in(item["pk"], path=item[_NAME]), now)]


class Staging(Store):
    """Stages the parts of values, and deletes the items that markers name."""

    def join(self, item: Item) -> Item:
        """Add the value to an item that has it in parts: one call; none without parts."""
        if not has_parts(item):
            return item
        keys = _list_parts(item)
        found = self._table.get_many(keys)
        if len(found) < len(keys):
            raise PartsMissing
        value: bytes = b"".join(found[key]["value"] for key in keys)
        return item | {"value": value.decode() if item[_IS_TEXT] else value}

    def stage_value(
        self, partition: str, path: str, item: Item, now: int, **attributes: int | None
    ) -> tuple[Item, list[Write]]:
        """Store the value of an item in parts if it is large.

        Args:
            path: the prefix of the value's name.
            item: attributes that have the value.
            attributes: those of each part beside its bytes.

        Returns:
            The attributes that refer to the parts, and the result of `stage_parts`.
        """
        name = create_value_name(path)
        whole, parts = split_value(partition, name, item, **attributes)
        return whole, self.stage_parts(partition, name, parts, now)

    def stage_parts(
        self, partition: str, path: str, parts: Sequence[Write], now: int
    ) -> list[Write]:
        """Write parts before the item that refers to them.

        Returns the writes for the transaction of that item: none without parts. They fail if the
        parts are being deleted, because the writer took too long.
        """
        if not parts:
            return []
        return self.stage(ORPHANED_VALUES.build_key_in(partition, path=path), parts, now)

    def stage(self, key: Key, writes: Sequence[Write], now: int) -> list[Write]:
        """Write items with a marker; return the write of the transaction that shows them."""
        self._table.put(stage(key, now))
        write_parallel(self._table, writes)
        return [show(key)]

    def remove_parts(self, item: Item | None) -> None:
        """Delete the parts that `hide_parts` has marked; the schedule deletes the rest of many."""
        for mark in hide_parts(item, 0):
            self.remove(mark.key)

    def remove(self, key: Key, seconds: float = _CLEANUP_SECONDS) -> bool:
        """Delete a marker's items for at most `seconds`; return True if none are left."""
        deadline = time.monotonic() + seconds
        try:
            self._table.update(update(key, "SET closing = :yes", _EXISTS, yes=True))
        except ConditionFailed:
            return True
        for prefix in _list_prefixes(key[1]):
            if not self.delete(self._table.query(key[0], prefix), deadline):
                return False
        write_parallel(self._table, [delete(key)])
        return True

    def delete(self, items: Iterator[Item], deadline: float) -> bool:
        """Delete items with the parts of their values until a time; return True if none are left.

        Args:
            deadline: of the monotonic clock, in seconds.
        """
        while group := list(islice(items, _BATCH)):
            if time.monotonic() >= deadline:
                return False
            for each in filter(has_parts, group):
                write_parallel(self._table, map(delete, _list_parts(each)))
            delete_items(self._table, group)
        return True


def _list_prefixes(sort: str) -> list[str]:
    """List the prefixes of the sort keys of a marker's items."""
    marker = next(each for each in _BELOW if each.has_sort(sort))
    return [f"{each.sort_prefix}{marker.parse(sort)}#" for each in _BELOW[marker]]


def _list_parts(item: Item) -> list[Key]:
    build, name = VALUE_PART.build_key_in, item[_NAME]
    return [build(item["pk"], name=name, number=number) for number in range(item[_NUMBER])]

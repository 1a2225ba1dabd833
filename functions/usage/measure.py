"""Measure what items hold of stored things; pure.

Bytes are those of contents as they were sent: values, texts, metadata. Keys, indexes and what
describes a thing don't count, so that a change of a status never grows.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from functions.platform.errors import UnreadableValue
from functions.platform.item_types import INSTANCE, ItemType, find_item_type
from functions.platform.json_text import decompress
from functions.platform.keys import Key
from functions.usage.model import KINDS, MEASURED, Amount

_SIZES = ("value_bytes", "size")
_TEXTS = (
    *("value", "input", "output", "error", "spec", "content", "values_by_key"),
    *("metadata", "extra_fields", "subject", "predicate", "object"),
)
CONTENTS = frozenset((*_SIZES, *_TEXTS))
"""The attributes that are measured."""


def find_measured(key: Key) -> ItemType | None:
    """Find the type of an item that is measured; None for any other item."""
    item_type = find_item_type("memory", key)
    return item_type if item_type in MEASURED else None


def measure(item_type: ItemType, item: Mapping[str, Any] | None) -> Amount:
    """Measure what an item holds; nothing, if there is none."""
    if item is None:
        return Amount()
    count = int(item_type in KINDS)
    if item_type is INSTANCE:
        count = len(item.get("values_by_key", ()))
    for name in _SIZES:
        if name in item:
            return Amount(count, int(item[name]))
    return Amount(count, sum(_get_size(item[name]) for name in _TEXTS if name in item))


def measure_change(
    item_type: ItemType, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> Amount:
    """Measure by how much a change of an item changes what is stored."""
    before, after = measure(item_type, old), measure(item_type, new)
    return Amount(after.items - before.items, after.bytes - before.bytes)


def add_change(counts: Counter[str], item_type: ItemType, change: Amount) -> None:
    """Add a change to counts, as `items_entries` and `bytes_entries`."""
    kind = MEASURED[item_type]
    counts[f"items_{kind}"] += change.items
    counts[f"bytes_{kind}"] += change.bytes


def _get_size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, bytes):
        return _get_expanded_size(value)
    if isinstance(value, dict):
        return sum(map(_get_size, value.values()))
    return 0


def _get_expanded_size(value: bytes) -> int:
    """Get the size of a compressed text; of anything else, such as a ciphertext, its own."""
    try:
        return len(decompress(value))
    except UnreadableValue:
        return len(value)

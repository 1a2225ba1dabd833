"""Define a tenant's usage: items and bytes by kind, requests, units, and costs.

Bytes are those of contents as sent: values, texts, metadata. Keys, indexes and descriptive fields
don't count, so that a change of a status never counts as growth.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from functions.platform import item_types
from functions.platform.errors import UnreadableValue
from functions.platform.item_types import INSTANCE, ItemType, find_item_type
from functions.platform.json_text import decompress
from functions.platform.keys import Key

KINDS: dict[ItemType, str] = {
    item_types.PRIVATE_ENTRY: "entries",
    item_types.SEMANTIC_ENTRY: "entries",
    item_types.FACT: "facts",
    item_types.CONVERSATION: "conversations",
    item_types.MESSAGE: "messages",
    item_types.STATE: "states",
    item_types.OBJECT: "objects",
    item_types.RUN: "runs",
    item_types.EPISODE: "episodes",
    item_types.LEARNED_WORKFLOW: "procedures",
    item_types.INSTANCE: "working_values",
    item_types.MEMORY_ENTRY: "openwop_entries",
    item_types.TASK: "tasks",
}
"""The types of items that count as items of a kind."""
PARTS: dict[ItemType, str] = {
    item_types.CONVERSATION_DETAILS: "conversations",
    item_types.VALUE_PART: "value_parts",
}
"""The types of items that only count in bytes: parts of other items."""
MEASURED = KINDS | PARTS
_SIZES = ("value_bytes", "size")
_TEXTS = (
    *("value", "input", "output", "error", "spec", "content", "values_by_key"),
    *("metadata", "extra_fields", "subject", "predicate", "object"),
)
CONTENTS = frozenset((*_SIZES, *_TEXTS))
"""The attributes that are measured."""
EPISODE_METRIC = "EpisodeQuota"
"""The metric of a tenant's usage of its quota of episodes, in percent."""
WRITE_UNIT, READ_UNIT, REQUEST = 0.625e-6, 0.125e-6, 1.38e-6
"""USD for a write unit, a read unit, and a request of the HTTP API with its function."""
GB_DAY = 0.45 / 30
"""USD for a day of a gigabyte, with recovery to a point in time."""


class Amount(NamedTuple):
    """The stored amount of a kind, or its change."""

    items: int = 0
    bytes: int = 0


class EpisodeCount(NamedTuple):
    """The number of a tenant's episodes, and whether it was warned.

    Attributes:
        number: as counted by the stream, without episodes deleted since.
    """

    number: int
    is_warned: bool


class TenantLimits(NamedTuple):
    """The limits of a tenant; None is no limit."""

    items: int | None = None
    bytes: int | None = None
    requests_per_second: int | None = None
    deletions_per_day: int | None = None
    model_tokens_per_day: int | None = None


@dataclass(eq=False)
class DayUsage:
    """A tenant's usage on a day, and its stored amounts at the end of the day, or so far.

    Attributes:
        day: as `2026-11-24`, in UTC.
        items, bytes: what is stored, by kind.
    """

    day: str
    requests: Counter[str] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    read_units: float = 0.0
    write_units: float = 0.0

    @property
    def cost_usd(self) -> float:
        """An estimate by list prices, without events, vectors, files, and data out."""
        units = self.write_units * WRITE_UNIT + self.read_units * READ_UNIT
        stored = self.bytes.total() / 2**30 * GB_DAY
        return round(units + self.requests.total() * REQUEST + stored, 9)


class TenantUsage(NamedTuple):
    """The limits of a tenant, and its usage by day, oldest first."""

    tenant: str
    limits: TenantLimits
    days: list[DayUsage]


@dataclass(frozen=True)
class Reconciliation:
    """The progress of a reconciliation.

    Attributes:
        due: when it continues (epoch ms).
        revision: grows with each step, so that two workers don't take the same one.
        after: the key after which the scan continues.
        seen: the number of changes of each tenant counted before; None until it begins.
        sums: the results of the scan, by tenant and name.
        is_counted: whether the scan has ended.
    """

    due: int
    revision: int = 0
    after: Key | None = None
    seen: dict[str, int] | None = None
    sums: dict[str, Counter[str]] = field(default_factory=dict)
    is_counted: bool = False


def find_measured(key: Key) -> ItemType | None:
    """Find the type of an item that is measured; None for any other item."""
    item_type = find_item_type("memory", key)
    return item_type if item_type in MEASURED else None


def measure(item_type: ItemType, item: Mapping[str, Any] | None) -> Amount:
    """Measure an item; zero without an item."""
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
    """Measure the change of stored amounts by a change of an item."""
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
        try:
            return len(decompress(value))
        except UnreadableValue:  # it isn't compressed text but, for example, ciphertext
            return len(value)
    if isinstance(value, dict):
        return sum(map(_get_size, value.values()))
    return 0

"""Define what a tenant uses: items and bytes by kind, requests, units, and what they cost."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from functions.platform import item_types
from functions.platform.item_types import ItemType
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
"""The types of stored things, each of which counts as an item of a kind."""
PARTS: dict[ItemType, str] = {
    item_types.CONVERSATION_DETAILS: "conversations",
    item_types.VALUE_PART: "value_parts",
}
"""The types that count in bytes alone: parts of stored things."""
MEASURED = KINDS | PARTS
EPISODE_METRIC = "EpisodeQuota"
"""The metric of how much of its quota of episodes a tenant uses, in percent."""
WRITE_UNIT, READ_UNIT, REQUEST = 0.625e-6, 0.125e-6, 1.38e-6
"""USD for a write unit, a read unit, and a request of the HTTP API with its function."""
GB_DAY = 0.45 / 30
"""USD for a day of a gigabyte, with recovery to a point in time."""


class Amount(NamedTuple):
    """Tells how much is stored of a kind, or by how much that changes."""

    items: int = 0
    bytes: int = 0


class EpisodeCount(NamedTuple):
    """Tells how many episodes a tenant has, and whether it was warned.

    Attributes:
        number: those that the stream has counted, without those that were deleted since.
    """

    number: int
    is_warned: bool


class TenantLimits(NamedTuple):
    """Tells what a tenant may use; None is no limit."""

    items: int | None = None
    bytes: int | None = None
    requests_per_second: int | None = None
    deletions_per_day: int | None = None
    model_tokens_per_day: int | None = None


@dataclass(eq=False)
class DayUsage:
    """Tells what a tenant used on a day, and what it stored at the end of the day, or so far.

    Attributes:
        day: as `2026-11-24`, in UTC.
        requests: how many, by operation.
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
    """Tells what a tenant may use, and what it used on days, the oldest first."""

    tenant: str
    limits: TenantLimits
    days: list[DayUsage]


@dataclass(frozen=True)
class Reconciliation:
    """Tells how far a reconciliation is.

    Attributes:
        due: when it goes on (epoch ms).
        revision: grows with each step, so that two workers don't take the same one.
        after: the key after which the scan continues.
        seen: how many changes of each tenant were counted before; None until it begins.
        sums: what the scan has found, by tenant and name.
        is_counted: whether the scan has ended.
    """

    due: int
    revision: int = 0
    after: Key | None = None
    seen: dict[str, int] | None = None
    sums: dict[str, Counter[str]] = field(default_factory=dict)
    is_counted: bool = False

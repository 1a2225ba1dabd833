"""Keys of event logs, and of the events that the bus has."""

from typing import Literal

from functions.platform import item_types
from functions.platform.keys import Key

_LAST_LOG_ITEM = 10**16 - 1


_OWNERS = {
    "intent": item_types.INTENT,
    "agent": item_types.AGENT,
    "namespace": item_types.SEMANTIC_ENTRY,
}


def build_log_partition(
    tenant: str, kind: Literal["intent", "agent", "namespace"], name: str
) -> str:
    """Build the partition of a log: that of its owner in the memory table."""
    return _OWNERS[kind].build_partition(tenant, **{kind: name})


def build_log_item_key(partition: str, number: int) -> Key:
    """Build the key of an item of events; `number` counts from 0, without gaps."""
    return partition, item_types.LOG_ITEM.build_sort(number=number)


def build_log_range(
    partition: str, number: int, last_number: int | None = None
) -> tuple[str, str, str]:
    """Build the partition, first and last sort key of a log's items from a number on.

    Args:
        last_number: the last item's; None for all there are.
    """
    ends = number, _LAST_LOG_ITEM if last_number is None else last_number
    first, last = (build_log_item_key(partition, each)[1] for each in ends)
    return partition, first, last


def parse_log_item(sort: str) -> int:
    return int(sort.removeprefix(item_types.LOG_ITEM.sort_prefix))


def build_event_part_key(partition: str, event_id: str, number: int) -> Key:
    """Build the key of a part of an event that is larger than an item."""
    return partition, item_types.EVENT_PART.build_sort(event=event_id, number=number)

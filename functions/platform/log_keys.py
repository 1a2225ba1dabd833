"""The keys of the log table. A log stands under the partition that its owner has in memory."""

from typing import Literal

from functions.platform.keys import Key, agent_partition, intent_item, namespace_partition

_LAST = 10**16 - 1


def log_partition(tenant: str, kind: Literal["intent", "agent", "namespace"], name: str) -> str:
    """The partition of an intent's, an agent's or a namespace's log."""
    match kind:
        case "intent":
            return intent_item(tenant, name)[0]
        case "agent":
            return agent_partition(tenant, name)
        case "namespace":
            return namespace_partition(tenant, name)


def events_item(partition: str, number: int) -> Key:
    """An item of events; `number` counts from 0, without gaps."""
    return partition, f"b#{number:016d}"


def events_from(partition: str, number: int) -> tuple[str, str, str]:
    """A log's partition, and the first and the last sort key of its items from a number on."""
    return partition, events_item(partition, number)[1], events_item(partition, _LAST)[1]


def number_of(sort: str) -> int:
    """The number of an item of events in its log, from its sort key."""
    return int(sort.removeprefix("b#"))


def event_part(partition: str, event_id: str, number: int) -> Key:
    """A part of an event that is larger than an item."""
    return partition, f"p#{event_id}#{number:04d}"


def event_published(tenant: str, event_id: str) -> Key:
    """The item that says that the bus has an event."""
    return f"{tenant}#m#{event_id}", f"m#{event_id}"

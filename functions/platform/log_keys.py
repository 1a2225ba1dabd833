"""The keys of the log table. A log stands under the partition that its owner has in memory."""

from typing import Literal

from functions.platform.keys import Key, agent_partition, intent_item, namespace_partition

LAST_EVENT = 10**16 - 1


def log_partition(tenant: str, kind: Literal["intent", "agent", "namespace"], name: str) -> str:
    """The partition of an intent's, an agent's or a namespace's log."""
    match kind:
        case "intent":
            return intent_item(tenant, name)[0]
        case "agent":
            return agent_partition(tenant, name)
        case "namespace":
            return namespace_partition(tenant, name)


def log_head(partition: str) -> Key:
    """The item that counts a log's events."""
    return partition, "h"


def event_item(partition: str, number: int) -> Key:
    """An event's item; `number` counts from 1, without gaps."""
    return partition, f"v#{number:016d}"


def number_of(sort: str) -> int:
    """The number of an event in its log, from its sort key."""
    return int(sort.removeprefix("v#"))


def event_part(partition: str, event_id: str, number: int) -> Key:
    """A part of the data of an event that is larger than an item."""
    return partition, f"p#{event_id}#{number:04d}"


def event_marker(tenant: str, event_id: str) -> Key:
    """The item that says that an event is in a log, whichever it is."""
    return f"{tenant}#m#{event_id}", f"m#{event_id}"

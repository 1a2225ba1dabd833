"""Counts the bytes of the objects in a principal's spaces, and of their uploads."""

from collections import Counter

from functions.objects.rules import count_bytes
from functions.platform.item_types import OBJECT_USAGE
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant, hash_agent
from functions.platform.table import Table
from functions.platform.writes import Write, update


class UsageChanges:
    """Changes of usage that one transaction makes."""

    def __init__(self) -> None:
        self._changes: Counter[Key] = Counter()

    def add(self, item: Item) -> None:
        """Count the bytes of an object or an upload."""
        self._changes[_build_key(item)] += count_bytes(item["size"])

    def subtract(self, item: Item) -> None:
        """Subtract them."""
        self._changes[_build_key(item)] -= count_bytes(item["size"])

    def build_writes(self) -> list[Write]:
        """Build the writes of the transaction."""
        return [
            update(key, "ADD used_bytes :more", more=more)
            for key, more in self._changes.items()
            if more
        ]


def get_usage(table: Table, tenant: str, owner: str) -> int:
    """Sum the bytes that count to a principal: one call."""
    partition = build_usage_partition(tenant, owner)
    return sum(each["used_bytes"] for each in table.query(partition, OBJECT_USAGE.sort_prefix))


def build_usage_partition(tenant: str, owner: str) -> str:
    """Build the partition of what counts to a principal."""
    return OBJECT_USAGE.build_partition(tenant, principal=hash_agent(owner))


def _build_key(item: Item) -> Key:
    tenant, owner = get_tenant(item["pk"]), hash_agent(item["owner"])
    return OBJECT_USAGE.build_key(tenant, principal=owner, shard=item["shard"])

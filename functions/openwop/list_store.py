"""The attributes that list a memory under its principal or agent type."""

from collections.abc import Iterator

from functions.openwop.model import ListedMemory, MemoryOwner
from functions.platform import openwop_keys
from functions.platform.items import Item
from functions.platform.newest_first import build_list_attributes, iterate_items
from functions.platform.schema import GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Store
from functions.platform.writes import update

_LISTING = (GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE, "created_at", "memory_agent", "memory_scope")
REMOVE_LISTING = f"REMOVE {', '.join(_LISTING)}"
"""The clause of an update that takes a memory out of its owner's list, and removes its name."""


def build_listing(tenant: str, owner: MemoryOwner, agent: str, scope: str | None, now: int) -> Item:
    """Build the attributes by which the memory of a name is listed.

    Args:
        now: when it is first listed, in epoch ms.
    """
    partition = openwop_keys.build_owned_memories_partition(tenant, *owner)
    memory = openwop_keys.hash_memory(*owner, agent, scope or "")
    named = {"memory_agent": agent} | ({} if scope is None else {"memory_scope": scope})
    return build_list_attributes(partition, now, memory) | {"created_at": now} | named


def render_listing(listing: Item) -> str:
    """Render assignments of an update that list a memory, unless it is listed already."""
    return ", ".join(f"{name} = if_not_exists({name}, :{name})" for name in listing)


class MemoryListStore(Store):
    """Reads and writes what lists memories."""

    def add(self, tenant: str, owner: MemoryOwner, agent: str, scope: str | None, now: int) -> str:
        """List a memory, unless it is listed; return its hash: one call."""
        memory = openwop_keys.hash_memory(*owner, agent, scope or "")
        listing = build_listing(tenant, owner, agent, scope, now)
        key = openwop_keys.build_memory_key(openwop_keys.build_memory_partition(tenant, memory))
        self._table.update(update(key, f"SET {render_listing(listing)}", **listing))
        return memory

    def iterate_owned(
        self, tenant: str, owner: MemoryOwner, before: str | None, count: int
    ) -> Iterator[ListedMemory]:
        """Read an owner's memories before a position, the last one first: by an index.

        An item that somebody else wrote lists nothing: its key is the hash of owner and name.

        Args:
            before: a position; None for the newest.
            count: how many to read together.
        """
        partition = openwop_keys.build_owned_memories_partition(tenant, *owner)
        for item in iterate_items(self._table, partition, before, count):
            agent, scope = item.get("memory_agent"), item.get("memory_scope")
            memory = openwop_keys.hash_memory(*owner, agent or "", scope or "")
            is_genuine = item["pk"] == openwop_keys.build_memory_partition(tenant, memory)
            if is_genuine and agent is not None:
                position, created = item[TYPE_ORDER_ATTRIBUTE], item["created_at"]
                yield ListedMemory(position, memory, owner, agent, scope, created)

    def remove(self, item: Item) -> None:
        """Take a memory, by the item of its head, out of its owner's list."""
        key = item["pk"], item["sk"]
        self._table.try_write(update(key, REMOVE_LISTING, "attribute_exists(pk)"))

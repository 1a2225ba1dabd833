"""Heads of memories: the sequence numbers that writes take, and the attributes that list a memory.

Each write of a memory takes a number that is higher than all before. The clock only proposes it.
The write has the condition that it is higher, so numbers follow the order of commits, even if the
clocks of functions differ.
"""

from collections.abc import Callable, Iterator, Sequence
from random import randint

from functions.openwop.model import ListedMemory, MemoryOwner
from functions.platform import item_types, openwop_keys
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.openwop_keys import get_first_sequence
from functions.platform.retry import Backoff
from functions.platform.schema import GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store, Table
from functions.platform.writes import Write, update

_LISTING = (GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE, "created_at", "agent", "scope")
REMOVE_LISTING = f"REMOVE {', '.join(f'#{each}' for each in _LISTING)}"
"""The clause of an update that removes a memory from its owner's list, with its name."""


def build_listing(tenant: str, owner: MemoryOwner, agent: str, scope: str | None, now: int) -> Item:
    """Build the attributes that list a memory under its name.

    Args:
        now: when it is first listed, in epoch ms.
    """
    kind, name = owner
    partition = item_types.MEMORY.build_group(tenant, owner_kind=kind, owner=name)
    memory = openwop_keys.hash_memory(*owner, agent, scope or "")
    named = {"agent": agent} | ({} if scope is None else {"scope": scope})
    return build_list_attributes(partition, now, memory) | {"created_at": now} | named


def render_listing(listing: Item) -> str:
    """Render assignments of an update that list a memory, unless it is listed already."""
    return ", ".join(f"#{name} = if_not_exists(#{name}, :{name})" for name in listing)


class MemoryListStore(Store):
    """Reads and writes the lists of memories."""

    def add(self, tenant: str, owner: MemoryOwner, agent: str, scope: str | None, now: int) -> str:
        """List a memory, unless it is listed; return its hash: one call."""
        memory = openwop_keys.hash_memory(*owner, agent, scope or "")
        listing = build_listing(tenant, owner, agent, scope, now)
        key = item_types.MEMORY.build_key(tenant, memory=memory)
        self._table.update(update(key, f"SET {render_listing(listing)}", **listing))
        return memory

    def list_owned(
        self, tenant: str, owner: MemoryOwner, wanted: WantedPage
    ) -> Iterator[ListedMemory]:
        """List an owner's memories, the last one first, by an index.

        A forged item is ignored: the key must be the hash of owner and name.
        """
        owned = {"owner_kind": owner[0], "owner": owner[1]}
        for item in list_items(self._table, item_types.MEMORY, wanted, tenant, **owned):
            agent, scope = item.get("agent"), item.get("scope")
            memory = openwop_keys.hash_memory(*owner, agent or "", scope or "")
            is_genuine = item["pk"] == item_types.MEMORY.build_partition(tenant, memory=memory)
            if is_genuine and agent is not None:
                position, created = item[TYPE_ORDER_ATTRIBUTE], item["created_at"]
                yield ListedMemory(position, memory, owner, agent, scope, created)

    def remove(self, item: Item) -> None:
        """Remove a memory, by its head's item, from its owner's list."""
        key = item["pk"], item["sk"]
        self._table.try_write(update(key, REMOVE_LISTING, "attribute_exists(pk)"))


_IS_HIGHER = "(attribute_not_exists(#sequence) OR #sequence < :sequence)"
# Two open runs have the random numbers 5 and 9: the sum is 14. A put that read the secrets of both
# has the condition 14. If a third run with the number 4 starts first, the sum is 18, and the put
# reads again. A put that read rows in between has 5 and 4, whose sum is neither 14 nor 18.
_SAME_SECRETS = "(attribute_not_exists(secrets_sum) OR secrets_sum = :sum)"
_SET_WRITTEN = (
    "SET #sequence = :sequence, second_sk = if_not_exists(newest_sk, :written), "
    "newest_sk = :written"
)
_ATTEMPTS, _MAX_SKIPPED = 25, 64
_BUSY = "others are writing to this memory"


class SecretsChanged(Exception):
    """The memory's secrets have changed since a put read them."""


class SequenceNumbers:
    """Takes sequence numbers of memories, from their heads."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def commit(
        self,
        partition: str,
        build_writes: Callable[[int], Sequence[Write]],
        secrets_sum: int | None = None,
    ) -> int:
        """Carry out the writes for a sequence number as one transaction; return the number.

        One of the writes must advance the memory's head. It takes one call, and one more each time
        another write took the number or a higher one.

        Args:
            secrets_sum: the sum of the memory's secrets, if the head's write has it as a condition.
        """
        key, head = item_types.MEMORY.build_key_in(partition), None
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            number = self._next(head)
            try:
                self._table.transact(build_writes(number))
            except ConditionFailed as refused:
                if refused.failed.keys() != {key}:
                    raise
                head = refused.failed[key]
            else:
                return number
            if secrets_sum not in (None, (head or {}).get("secrets_sum", 0)):
                raise SecretsChanged
            backoff.wait()

    def take_snapshot(
        self, partitions: Sequence[str], listing: Item | None
    ) -> tuple[int, list[Item]]:
        """Advance the heads of memories to one new number; return it and the heads.

        Args:
            listing: the attributes that list the memory, if it was named.
        """
        head = None
        backoff = Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            number, heads = self._next(head), []
            try:
                for partition in partitions:
                    write = _advance(partition, number, listing)
                    heads.append(self._table.update(write))
            except ConditionFailed as failed:
                head = failed.item
            else:
                return number, heads
            backoff.wait()

    def _next(self, head: Item | None) -> int:
        """Propose a number above the head's, if known.

        A millisecond has 1,024 numbers. Example: at 5 ms, the clock proposes 5,120. If the head has
        5,130, the next try takes one of 5,131 to 5,194, so writers seldom collide.
        """
        least = 0 if head is None else head["sequence"] + randint(1, _MAX_SKIPPED)  # noqa: S311
        return max(least, get_first_sequence(self._clock()))


def _advance(partition: str, number: int, listing: Item | None) -> Write:
    key = item_types.MEMORY.build_key_in(partition)
    if listing is None:
        return update(key, "SET #sequence = :sequence", _IS_HIGHER, sequence=number)
    change = f", {render_listing(listing)}" if listing else f" {REMOVE_LISTING}"
    return update(key, f"SET #sequence = :sequence{change}", _IS_HIGHER, sequence=number, **listing)


def advance_for_put(entry: Key, number: int, secrets_sum: int) -> Write:
    """Advance the head for a new entry, on condition of the sum of the redacted secrets."""
    return update(
        item_types.MEMORY.build_key_in(entry[0]),
        _SET_WRITTEN,
        f"{_IS_HIGHER} AND {_SAME_SECRETS}",
        sequence=number,
        written=entry[1],
        sum=secrets_sum,
    )


def advance_for_delete(entry: Key, number: int) -> Write:
    """Advance the head for a deleted entry."""
    return update(
        item_types.MEMORY.build_key_in(entry[0]),
        f"{_SET_WRITTEN} ADD deletions :one",
        _IS_HIGHER,
        sequence=number,
        written=entry[1],
        one=1,
    )

"""What is due, read from the sharded index of due things."""

from collections.abc import Iterator
from itertools import islice

from functions.platform.items import Item
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.schema import BY_DUE, DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Table


class Due:
    """Reads a shard's due items, longest due first."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def in_shard(self, shard: str, now: int) -> Iterator[list[Item]]:
        """The items due by `now` (epoch ms), as they stand: a call per hundred, and per MB of keys.

        The index may lag behind the table, so what is no longer due is left out.
        """
        rows = self._table.query_range(
            BY_DUE, shard, DUE_ATTRIBUTE, now, attribute=DUE_SHARD_ATTRIBUTE
        )
        while chunk := [(row["pk"], row["sk"]) for row in islice(rows, MAX_GET_ITEMS)]:
            found = self._table.get_many(chunk)
            items = [found[place] for place in chunk if place in found]
            yield [item for item in items if item.get(DUE_ATTRIBUTE, now + 1) <= now]

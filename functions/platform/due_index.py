"""Read the items that are due from their sharded index."""

from collections.abc import Iterator
from itertools import islice

from functions.platform.items import Item
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.schema import BY_DUE, DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Table


class DueIndex:
    """The index of due items."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def read_shard(self, shard: str, now: int) -> Iterator[list[Item]]:
        """Read a shard's items due by `now` (epoch ms), longest due first: a call per hundred.

        The index may lag behind the table, so items that are no longer due are left out.
        """
        rows = self._table.query_range(
            BY_DUE, shard, DUE_ATTRIBUTE, now, attribute=DUE_SHARD_ATTRIBUTE
        )
        while keys := [(row["pk"], row["sk"]) for row in islice(rows, MAX_GET_ITEMS)]:
            found = self._table.get_many(keys)
            items = [found[key] for key in keys if key in found]
            yield [item for item in items if item.get(DUE_ATTRIBUTE, now + 1) <= now]

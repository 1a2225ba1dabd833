"""Read due items from their sharded index."""

from collections.abc import Iterable, Iterator

from functions.platform.items import Item
from functions.platform.keys import DueKey, Key
from functions.platform.schema import BY_DUE, DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Store


class DueIndex(Store):
    """The index of due items."""

    def list_shard(self, shard: str, now: int) -> Iterator[DueKey]:
        """List a shard's items due by `now` (epoch ms), longest due first: a call per megabyte."""
        condition = f"{DUE_SHARD_ATTRIBUTE} = :shard AND {DUE_ATTRIBUTE} <= :now"
        rows = self._table.query_index(BY_DUE, condition, shard=shard, now=now)
        return (DueKey(row[DUE_ATTRIBUTE], (row["pk"], row["sk"])) for row in rows)

    def get_due(self, keys: Iterable[Key], now: int) -> list[Item]:
        """Read items, longest due first: a call per hundred.

        The index may lag behind the table, so items that are no longer due are left out.
        """
        found = self._table.get_many(keys).values()
        due = (item for item in found if item.get(DUE_ATTRIBUTE, now + 1) <= now)
        return sorted(due, key=lambda item: item[DUE_ATTRIBUTE])

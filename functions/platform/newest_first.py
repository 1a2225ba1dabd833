"""Lists of items, newest first, by an index: what their items carry, and how a page is read."""

from collections.abc import Iterator
from itertools import islice

from functions.platform.items import Item
from functions.platform.keys import HIGHEST, build_list_position
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.schema import BY_GROUP, GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Table


def build_list_attributes(partition: str, created: int, id: str) -> Item:
    """Build what lists an item among those of a partition.

    Args:
        partition: the item's own, or one that only the index has.
        created: when it was created, in epoch ms.
        id: what tells it from others of that moment.
    """
    return {GROUP_ATTRIBUTE: partition, TYPE_ORDER_ATTRIBUTE: build_list_position(created, id)}


def iterate_items(
    table: Table, partition: str, before: str | None, count: int
) -> Iterator[list[Item]]:
    """Read the items listed in a partition, newest first, as they are now.

    It makes two calls for each `count`.

    The index may lag behind the table by milliseconds.

    Args:
        table: holds them.
        partition: as they were listed.
        before: the position before which they begin; None for the newest.
        count: how many to read together: as many as a page needs.
    """
    of, below = (GROUP_ATTRIBUTE, partition), (TYPE_ORDER_ATTRIBUTE, before or HIGHEST)
    size = min(count, MAX_GET_ITEMS)
    rows = table.query_newest(BY_GROUP, of, below, size)
    while keys := [(row["pk"], row["sk"]) for row in islice(rows, size)]:
        found = table.get_many(keys)
        yield [found[key] for key in keys if key in found]

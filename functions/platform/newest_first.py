"""Lists of items, newest first, by an index: what their items carry, and how a page is read."""

from collections.abc import Iterator
from itertools import islice

from functions.platform.items import Item
from functions.platform.keys import HIGHEST, Key, build_list_position
from functions.platform.schema import BY_GROUP, GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Table

_READ_TOGETHER = 50  # rows of the index, and then their items


def build_list_attributes(key: Key, created: int, id: str) -> Item:
    """Build what lists an item among those of its partition.

    Args:
        key: the item's.
        created: when it was created, in epoch ms.
        id: what tells it from others of that moment.
    """
    return {GROUP_ATTRIBUTE: key[0], TYPE_ORDER_ATTRIBUTE: build_list_position(created, id)}


def iterate_items(table: Table, partition: str, before: str | None) -> Iterator[list[Item]]:
    """Read a partition's listed items, newest first, as they are now: two calls for each fifty.

    The index may lag behind the table by milliseconds.

    Args:
        table: holds them.
        partition: of which they are.
        before: the position before which they begin; None for the newest.
    """
    of, below = (GROUP_ATTRIBUTE, partition), (TYPE_ORDER_ATTRIBUTE, before or HIGHEST)
    rows = table.query_newest(BY_GROUP, of, below, _READ_TOGETHER)
    while keys := [(row["pk"], row["sk"]) for row in islice(rows, _READ_TOGETHER)]:
        found = table.get_many(keys)
        yield [found[key] for key in keys if key in found]

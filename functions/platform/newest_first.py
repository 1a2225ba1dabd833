"""Lists of items, newest first, by an index: what their items carry, and how a page is read."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from functions.platform.items import Item
from functions.platform.keys import HIGHEST, Key, build_list_position
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.schema import BY_GROUP, GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Table


def build_list_attributes(partition: str, created: int, id: str) -> Item:
    """Build what lists an item among those of a partition.

    Args:
        partition: the item's own, or one that only the index has.
        created: when it was created, in epoch ms.
        id: what distinguishes it from others of that moment.
    """
    return {GROUP_ATTRIBUTE: partition, TYPE_ORDER_ATTRIBUTE: build_list_position(created, id)}


def iterate_items(table: Table, partition: str, before: str | None, count: int) -> Iterator[Item]:
    """Read items as `iterate_item_groups` does, one after another."""
    return chain.from_iterable(iterate_item_groups(table, partition, before, count))


def iterate_item_groups(
    table: Table, partition: str, before: str | None, count: int, for_none: Iterable[Key] = ()
) -> Iterator[list[Item]]:
    """Read the items listed in a partition, newest first, as they are now: two calls a group.

    The index may lag behind the table by milliseconds.

    Args:
        partition: as they were listed.
        before: the position before which they begin; None for the newest.
        count: how many the first group has, as many as a page needs.
        for_none: what an empty group reads, so that it takes as many calls as others.
    """
    for rows in iterate_rows(table, BY_GROUP, (GROUP_ATTRIBUTE, partition), before, count):
        keys = [(row["pk"], row["sk"]) for row in rows]
        found = table.get_many(keys or for_none)
        yield [found[key] for key in keys if key in found]


def iterate_rows(
    table: Table,
    index: str,
    of: tuple[str, str],
    before: str | None,
    count: int,
    most: int = MAX_GET_ITEMS,
) -> Iterator[list[Item]]:
    """Read rows of an index under a value of an attribute, newest first: a call a group.

    Args:
        of: the attribute, and its value.
        before: the position before which they begin; None for the newest.
        count: how many the first group has.
        most: how many a group has at most.
    """

    condition = f"{of[0]} = :value AND {TYPE_ORDER_ATTRIBUTE} < :below"

    def read(below: str | None, size: int) -> list[Item]:
        bounds = {"value": of[1], "below": below or HIGHEST}
        found = table.query_index(index, condition, newest_first=True, page_size=size, **bounds)
        return list(islice(found, size))

    return iterate_groups(read, TYPE_ORDER_ATTRIBUTE, before, min(count, most), most)


def iterate_groups(
    read: Callable[[str | None, int], list[Item]],
    order: str,
    before: str | None,
    count: int,
    most: int,
) -> Iterator[list[Item]]:
    """Read groups of items, each twice as large as the one before it.

    Where few of them are shown, more are examined at a time. The last group may be empty.

    Args:
        read: reads a number of items before a position, the highest one first.
        order: the attribute that holds the position.
        before: the position before which they begin; None for the highest.
        count: how many the first group has.
        most: how many a group has at most.
    """
    below, size = before, count
    while True:
        items = read(below, size)
        yield items
        if len(items) < size:
            return
        below, size = items[-1][order], min(2 * size, most)

"""Lists of items, newest first, by an index: the attributes of items, and reads of pages."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from operator import itemgetter

from functions.platform.bounded_pages import WantedPage
from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.keys import HIGHEST, LOWEST, Key, build_list_position
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.schema import BY_GROUP, GROUP_ATTRIBUTE, INDEX_KEYS, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Table


def build_list_attributes(partition: str, created: int, id: str) -> Item:
    """Build the attributes that list an item in a partition.

    Args:
        partition: the item's own, or one that only the index has.
        created: its creation time, in epoch ms.
        id: tells it from items of the same moment.
    """
    return {GROUP_ATTRIBUTE: partition, TYPE_ORDER_ATTRIBUTE: build_list_position(created, id)}


def list_items(
    table: Table, item_type: ItemType, wanted: WantedPage, tenant: str, **names: str
) -> Iterator[Item]:
    """List items as `list_item_groups` does, one after another."""
    return chain.from_iterable(list_item_groups(table, item_type, wanted, tenant, **names))


def list_item_groups(
    table: Table,
    item_type: ItemType,
    wanted: WantedPage,
    tenant: str,
    for_none: Iterable[Key] = (),
    /,
    **names: str,
) -> Iterator[list[Item]]:
    """List the present items of a partition from the begin of a page, newest first.

    Two calls a group, by an index that may lag behind the table by milliseconds.

    A counted page of items in a partition of their own reads them all by strongly consistent
    queries, as one group.

    Args:
        for_none: what an empty group reads, so that it takes as many calls as others.
    """
    if wanted.is_counted and BY_GROUP not in item_type.listed:
        yield _query_newest(table, item_type, tenant, names)
        return
    for rows in iterate_rows(table, BY_GROUP, item_type.build_group(tenant, **names), wanted):
        keys = [(row["pk"], row["sk"]) for row in rows]
        found = table.get_many(keys or for_none)
        yield [found[key] for key in keys if key in found]


def list_listings(
    table: Table, item_type: ItemType, wanted: WantedPage, tenant: str, **names: str
) -> Iterator[list[Item]]:
    """List the rows of a partition as `list_item_groups` does, with one call a group.

    From the index, rows have only projected attributes, and some may be gone.
    """
    if wanted.is_counted:
        return iter((_query_newest(table, item_type, tenant, names),))
    return iterate_rows(table, BY_GROUP, item_type.build_group(tenant, **names), wanted)


def _query_newest(
    table: Table, item_type: ItemType, tenant: str, names: Mapping[str, str]
) -> list[Item]:
    found = table.query(*item_type.build_range(tenant, **names))
    return sorted(found, key=itemgetter(TYPE_ORDER_ATTRIBUTE), reverse=True)


def iterate_rows(
    table: Table,
    index: str,
    value: str,
    wanted: WantedPage,
    most: int = MAX_GET_ITEMS,
    prefix: str = "",
) -> Iterator[list[Item]]:
    """Read rows of an index under a value from the begin of a page, newest first: a call a group.

    Args:
        most: the maximum size of a group.
        prefix: of their positions.
    """

    def read(below: str | None, size: int) -> list[Item]:
        bounds = prefix or LOWEST, below or prefix + HIGHEST
        return read_rows(table, index, value, *bounds, size)

    return iterate_groups(read, INDEX_KEYS[index][1], wanted, most)


def read_rows(table: Table, index: str, value: str, first: str, end: str, count: int) -> list[Item]:
    """Read up to `count` rows of an index under a value, the highest position first.

    Args:
        first, end: the lowest position, and the exclusive upper bound.
    """
    of, order = INDEX_KEYS[index]
    condition = f"{of} = :value AND {order} BETWEEN :first AND :end"
    bounds = {"value": value, "first": first, "end": end}
    rows = table.query_index(index, condition, newest_first=True, page_size=count + 1, **bounds)
    return list(islice((row for row in rows if row[order] != end), count))


def iterate_groups(
    read: Callable[[str | None, int], list[Item]], order: str, wanted: WantedPage, most: int
) -> Iterator[list[Item]]:
    """Read groups of items from the begin of a page, each twice as large as the one before.

    If few items are shown, later groups examine more. The last group may be empty.

    Args:
        read: reads a number of items before a position, the highest one first.
        order: the attribute that holds the position.
        most: the maximum size of a group.
    """
    below, size = wanted.begin, min(wanted.read_size, most)
    while True:
        items = read(below, size)
        yield items
        if len(items) < size:
            return
        below, size = items[-1][order], min(2 * size, most)

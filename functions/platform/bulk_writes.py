"""Run many writes without conditions, in several calls at once."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.parallel import run_parallel
from functions.platform.table import Table
from functions.platform.writes import Write, delete

_PARALLEL_CALLS = 8


def write_parallel(table: Table, writes: Iterable[Write]) -> None:
    """Run puts and deletes without conditions, each for itself."""
    for group in _split(writes, MAX_WRITE_ITEMS * _PARALLEL_CALLS):
        chunks = _split(group, MAX_WRITE_ITEMS)
        run_parallel([partial(table.write_many, chunk) for chunk in chunks])


def delete_items(table: Table, items: Iterable[Item]) -> None:
    """Delete items, each for itself."""
    write_parallel(table, (delete((each["pk"], each["sk"])) for each in items))


def delete_in_transactions(table: Table, keys: Iterable[Key]) -> None:
    """Delete items by transactions: IAM doesn't distinguish a batch's deletions from its puts.

    It costs twice the units of a batch, so it is used for items that only some roles may put.
    """
    for group in _split((delete(key) for key in keys), MAX_WRITE_ITEMS):
        table.transact(group)


def _split(writes: Iterable[Write], size: int) -> Iterator[list[Write]]:
    rest = iter(writes)
    while group := list(islice(rest, size)):
        yield group

"""Carry out many writes without conditions, in several calls at once."""

from collections.abc import Iterable, Iterator
from functools import partial

from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.parallel import run_parallel
from functions.platform.table import Table
from functions.platform.writes import Write

_PARALLEL_CALLS = 8


def write_parallel(table: Table, writes: Iterable[Write]) -> None:
    """Carry out puts and deletes without conditions, each for itself."""
    for group in _split(writes, MAX_WRITE_ITEMS * _PARALLEL_CALLS):
        chunks = _split(group, MAX_WRITE_ITEMS)
        run_parallel([partial(table.write_many, chunk) for chunk in chunks])


def _split(writes: Iterable[Write], size: int) -> Iterator[list[Write]]:
    group: list[Write] = []
    for write in writes:
        group.append(write)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group

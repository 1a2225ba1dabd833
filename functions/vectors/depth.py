"""How deep a search looks: some of what an index proposes may be gone, or not fit."""

from collections.abc import Callable
from typing import TypeVar

_FIRST = 2  # times what is wanted
_DEEPER = 10  # times as much, where that wasn't enough
T = TypeVar("T")


def look_deeper(wanted: int, most: int, look: Callable[[int], tuple[list[T], bool]]) -> list[T]:
    """Looks deeper until there are as many as wanted, or no more, or the index ends.

    Args:
        wanted: how many.
        most: how many hits the index gives at most.
        look: takes the number of hits; gives what of them fits, and whether there can be no others.
    """
    depth = min(_FIRST * wanted, most)
    while True:
        found, complete = look(depth)
        if len(found) >= wanted or complete or depth == most:
            return found[:wanted]
        depth = min(_DEEPER * depth, most)

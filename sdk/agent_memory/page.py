"""A page of a list."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list.

    Attributes:
        items: in the list's order.
        next: give it as `after` to go on; None on the last page.
    """

    items: list[Item]
    next: str | None

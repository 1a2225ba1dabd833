"""Pages of a list."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypedDict, TypeVar

Item = TypeVar("Item")
PAGE_SIZE = 100


class Paging(TypedDict, total=False):
    """The part of a list that a call returns, and the size of its pages.

    Attributes:
        limit: the maximum number of items; by default, all.
        page_size: the number of items of one request, up to the maximum of the service.
        after: `next` of an earlier page of the same list, to continue after it.
    """

    limit: int | None
    page_size: int
    after: str | None


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A page of a list: the items of one request.

    Attributes:
        items: in the list's order.
        next: the value of `after` to continue; None on the last page.
    """

    items: list[Item]
    next: str | None

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class FirstPageView(ABC, Generic[Item]):
    """The first page of a list."""

    @abstractmethod
    def _get_first_page(self) -> Page[Item]: ...

    @property
    def items(self) -> list[Item]:
        """The items of the first page."""
        return self._get_first_page().items

    @property
    def next(self) -> str | None:
        """The position of the second page, for `after`; None if there is no other page."""
        return self._get_first_page().next

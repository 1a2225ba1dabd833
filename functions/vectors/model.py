"""Vectors, and what a search among them finds."""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from functions.platform.items import Item

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]
else:
    Vector = array  # which takes no type in Python 3.11
"""Single precision, of unit length."""

Embed: TypeAlias = Callable[[str], Vector]
"""Gives the meaning of a text; any number of threads may call it."""


@dataclass(frozen=True, slots=True)
class Form:
    """How an index wants the vectors of a model stored.

    Attributes:
        model: the name of the model.
        mark: the attribute that only this index's vectors have.
        stored: gives a vector of a space, with what it is filtered by, as it is to be stored.
    """

    model: str
    mark: str
    stored: Callable[[str, Vector, Mapping[str, str]], Item]

    @property
    def name(self) -> str:
        """What tells vectors of this form from others."""
        return f"{self.model}/{self.mark}"

    def made(self, item: Item) -> bool:
        """Whether an item's vector is of this form."""
        return item.get("model") == self.model and self.mark in item


@dataclass(frozen=True, slots=True)
class Hit:
    """What a vector stands for, and the cosine of its angle to the query: 1 is the same."""

    ref: str
    score: float


class Index(Protocol):
    """Searches the vectors of a space."""

    @property
    def most(self) -> int:
        """How many hits a search gives at most."""

    def search(self, space: str, query: Vector, top_k: int, equal: Mapping[str, str]) -> list[Hit]:
        """The `top_k` most alike to the query among those whose filters are `equal`, best first."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """What texts are embedded by, and how the vectors are kept and found."""

    embed: Embed
    form: Form
    index: Index

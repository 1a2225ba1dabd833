"""Vectors, and what a search among them finds."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]
else:
    Vector = array  # which takes no type in Python 3.11
"""Single precision, of unit length."""

Embed: TypeAlias = Callable[[str], Vector]
"""Gives the meaning of a text; any number of threads may call it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a vector stands for, and the cosine of its angle to the query: 1 is the same."""

    ref: str
    score: float

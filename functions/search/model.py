"""What is asked of the search, and what it finds (contract §8)."""

from dataclasses import dataclass

from functions.entries.model import Entry


@dataclass(frozen=True, slots=True)
class Match:
    """An entry, and how alike it is to the query: the cosine of their vectors, 1 at most."""

    entry: Entry
    score: float

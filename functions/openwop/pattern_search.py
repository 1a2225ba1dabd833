"""Search of a text for many patterns at once, in time that grows with the text alone.

By Aho and Corasick: a search for each pattern takes too long where patterns repeat themselves.
"""

from collections.abc import Iterable, Iterator, Sequence

Range = tuple[int, int, int]
"""Start, end, and the rank of a pattern; the lowest rank is the longest pattern's."""

_CHARACTER_BITS = 21  # of a code point
_NONE = -1


class PatternSearch:
    """An automaton that finds patterns; `patterns` are unique, the longest first."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._lengths = [len(pattern) for pattern in patterns]
        self._edges: dict[int, int] = {}
        self._parents, self._codes, self._depths = [0], [0], [0]
        self._longest = [_NONE]  # by state: the rank of the longest pattern that ends there
        for rank, pattern in enumerate(patterns):
            self._longest[self._add(pattern)] = rank
        self._fallbacks = [0] * len(self._parents)
        self._link()

    def find(self, text: str) -> Iterator[Range]:
        """Find, for each place at which patterns end, the longest of them."""
        edges, fallbacks, state = self._edges, self._fallbacks, 0
        for end, character in enumerate(text, 1):
            code = ord(character)
            while (following := edges.get(state << _CHARACTER_BITS | code)) is None and state:
                state = fallbacks[state]
            state = following or 0
            rank = self._longest[state]
            if rank != _NONE:
                yield end - self._lengths[rank], end, rank

    def _add(self, pattern: str) -> int:
        """Add the states of a pattern; return its last one."""
        state = 0
        for depth, code in enumerate(map(ord, pattern), 1):
            edge = state << _CHARACTER_BITS | code
            following = self._edges.get(edge)
            if following is None:
                following = self._edges[edge] = len(self._parents)
                self._parents.append(state)
                self._codes.append(code)
                self._depths.append(depth)
                self._longest.append(_NONE)
            state = following
        return state

    def _link(self) -> None:
        """Set the state to continue from where no edge fits: that of the longest other suffix."""
        for state in sorted(range(1, len(self._parents)), key=self._depths.__getitem__):
            fallback, code = self._fallbacks[self._parents[state]], self._codes[state]
            if self._parents[state]:
                while (
                    following := self._edges.get(fallback << _CHARACTER_BITS | code)
                ) is None and fallback:
                    fallback = self._fallbacks[fallback]
                self._fallbacks[state] = following or 0
            if self._longest[state] == _NONE:
                self._longest[state] = self._longest[self._fallbacks[state]]


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Join ranges that overlap, under the lowest rank; ranges that only touch stay apart."""
    merged: list[Range] = []
    for start, end, rank in sorted(ranges):
        if merged and start < merged[-1][1]:
            begin, last, best = merged[-1]
            merged[-1] = begin, max(last, end), min(best, rank)
        else:
            merged.append((start, end, rank))
    return merged

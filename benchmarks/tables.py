"""Render tables of text."""

from collections.abc import Sequence


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(row, widths) for row in (heads, rule, *rows))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    aligned = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "  ".join(aligned).rstrip()

"""Render tables of text."""

from collections.abc import Sequence


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    form = "  ".join(f"{{:{'>' if place else '<'}{width}}}" for place, width in enumerate(widths))
    lines = (heads, ["-" * width for width in widths], *rows)
    return "\n".join(form.format(*line).rstrip() for line in lines)

"""Plain tables: aligned, and no wider than the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent_memory.cli.text import cut, harmless, padded, width

_GAP = "  "
_LEAST = 8  # columns that a cell keeps, however narrow the terminal is


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], columns: int | None) -> list[str]:
    """The lines of a table.

    Args:
        headings: one for each column.
        rows: the cells; any text, it is made harmless.
        columns: the terminal's width; None is no terminal, and nothing is cut.
    """
    cells = [list(headings), *([harmless(cell) for cell in row] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    if columns is not None:
        widths = _fitted(widths, columns - len(_GAP) * (len(widths) - 1))
    return [_line(row, widths) for row in cells]


def record(fields: Mapping[str, str], columns: int | None) -> list[str]:
    """The lines that show one thing: a name and a text on each."""
    names = max(map(width, fields))
    lines = (padded(name, names) + _GAP + harmless(text) for name, text in fields.items())
    return [line if columns is None else cut(line, columns) for line in lines]


def _fitted(widths: list[int], room: int) -> list[int]:
    """Widths that fit: the widest columns give way first, down to `_LEAST`."""
    fitted = list(widths)
    for most in _narrowing(widths):
        if sum(fitted) <= room:
            break
        over = sum(fitted) - room
        wide = [at for at, each in enumerate(fitted) if each > most]
        for at in wide:
            taken = min(-(-over // len(wide)), fitted[at] - most)
            fitted[at] -= taken
    return fitted


def _narrowing(widths: list[int]) -> Iterator[int]:
    """The widths that the widest columns are brought down to, one after the other."""
    steps = sorted({each for each in widths if each > _LEAST}, reverse=True)
    yield from steps[1:]
    yield _LEAST


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    *first, last = (cut(cell, most) for cell, most in zip(row, widths, strict=True))
    cells = [padded(cell, most) for cell, most in zip(first, widths, strict=False)]
    return _GAP.join([*cells, last]).rstrip()

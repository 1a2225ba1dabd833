"""Render sizes and durations for people, so that a text follows the constant that it names."""

_SIZES = (("GB", 2**30), ("MB", 2**20), ("KB", 2**10), ("MB", 10**6))
_DURATIONS = (
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1000),
    ("millisecond", 1),
)


def format_bytes(size: int) -> str:
    """Render a size in the largest unit that divides it: `64 KB`; 1 KB is 1,024 bytes.

    Pages and responses are limited to round numbers: 5,000,000 bytes are `5 MB`.
    """
    for unit, factor in _SIZES:
        if size % factor == 0:
            return f"{size // factor:,} {unit}"
    return f"{size:,} bytes"


def format_duration(milliseconds: int) -> str:
    """Render a duration in the largest unit that divides it: `15 minutes`."""
    unit, factor = next(each for each in _DURATIONS if milliseconds % each[1] == 0)
    count = milliseconds // factor
    return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"

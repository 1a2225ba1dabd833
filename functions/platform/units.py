"""Render durations for people, so that a text follows the constant that it names."""

_DURATIONS = (
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1000),
    ("millisecond", 1),
)


def format_duration(milliseconds: int) -> str:
    """Render a duration in the largest unit that divides it: `15 minutes`."""
    unit, factor = next(each for each in _DURATIONS if milliseconds % each[1] == 0)
    count = milliseconds // factor
    return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"

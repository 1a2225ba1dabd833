"""Read the clock, and convert times; all other code gets times as arguments, in epoch ms."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

Clock = Callable[[], int]

_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MILLISECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MILLISECOND


def now_ms() -> int:
    """Get the time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@lru_cache(4096)  # a list that is read again has the same times
def to_rfc3339(timestamp: int) -> str:
    """Render a time (epoch ms) as RFC 3339 in UTC: `2026-02-08T10:00:00.000Z`."""
    text = (EPOCH + timestamp * _MILLISECOND).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def to_optional_rfc3339(timestamp: int | None) -> str | None:
    """Render a time (epoch ms) that may be unset."""
    return None if timestamp is None else to_rfc3339(timestamp)


def from_rfc3339(text: str) -> int:
    """Parse an RFC 3339 date-time into epoch milliseconds; finer fractions are cut."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("use an RFC 3339 date-time such as 2026-02-08T10:00:00Z")
    fraction = match.group(1)
    if fraction is not None:
        text = text.replace(fraction, fraction[:7].ljust(7, "0"), 1)
    timestamp = int((datetime.fromisoformat(text.upper()) - EPOCH) // _MILLISECOND)
    if not _FIRST <= timestamp <= _LAST:
        raise ValueError("the date-time lies outside the calendar")
    return timestamp

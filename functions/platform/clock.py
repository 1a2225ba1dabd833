"""Read the clock, and convert times and lifetimes (RFC-0015 §1.1).

All other code takes times as arguments, in epoch ms.
"""

import calendar
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from functions.platform.errors import ValidationFailed
from functions.platform.items import Item
from functions.platform.schema import TTL_ATTRIBUTE

Clock = Callable[[], int]
HasTime = Callable[[], bool]
"""Returns True while there is time for more work."""

_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MILLISECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MILLISECOND
_PREFIX = "duration:"
_NUMBER = r"(\d{1,12}(?:[.,]\d{1,9})?)"
_DURATION = re.compile(
    rf"P(?=[\dT])(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?",
    re.ASCII,
)
_DAY = 86_400_000  # ms
_UNITS = (7 * _DAY, _DAY, 3_600_000, 60_000, 1000)  # weeks to seconds, in ms
_DAYS_OF_MONTH = 30  # for fractions of a month


def limit_time(seconds: float) -> HasTime:
    """Build a function that returns True until the seconds are over."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() < deadline


def now_ms() -> int:
    """Get the time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@lru_cache(4096)  # lists that are read again have the same times
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
        raise ValueError("must be a date-time of the years 1 to 9999")
    return timestamp


class Duration(NamedTuple):
    """An ISO 8601 duration: calendar months, and the rest in ms."""

    months: int
    rest: int

    def add_to(self, start: int) -> int:
        """Return the time (epoch ms) after the duration; 31 January plus a month is 28 February."""
        if self.months:
            start = _add_months(start, self.months)
        to_rfc3339(start + self.rest)
        return start + self.rest

    @property
    def milliseconds(self) -> int:
        """Its length without a start date: a month has 30 days, a year 365."""
        years, months = divmod(self.months, 12)
        return (365 * years + _DAYS_OF_MONTH * months) * _DAY + self.rest


def compute_expiry(ttl: str | None, expires_at: int | None, now: int, *policies: str) -> int | None:
    """Compute when something expires (epoch ms); `expires_at` overrides `ttl` (RFC-0015 §1.1).

    Args:
        ttl: `duration:` and an ISO 8601 duration, one of the policies, or None.
        expires_at: epoch ms.
        now: epoch ms.
        policies: the values of `ttl` without a time.
    """
    lasts = None
    if ttl is not None and ttl not in policies:
        lasts = parse_duration(ttl, "ttl", *policies, "a number of seconds")
    if expires_at is None:
        return None if lasts is None else _add(now, lasts)
    if expires_at <= now:
        raise ValidationFailed("expires_at", "must be in the future")
    return expires_at


def to_ttl_seconds(expiry: int | None) -> int | None:
    """Convert an expiry (epoch ms) for DynamoDB's TTL (epoch s), rounded up."""
    return None if expiry is None else -(-expiry // 1000)


def parse_duration(text: str, field: str, *alternatives: str) -> Duration:
    """Parse a `duration:<ISO 8601>`."""
    match = _DURATION.fullmatch(text.removeprefix(_PREFIX)) if text.startswith(_PREFIX) else None
    if match is None:
        forms = ", ".join((*alternatives, "an ISO 8601 duration as in duration:P30D"))
        raise ValidationFailed(field, f"must be {forms}, or null")
    years, months, *others = (Fraction((each or "0").replace(",", ".")) for each in match.groups())
    total = 12 * years + months
    rest = sum((n * unit for n, unit in zip(others, _UNITS, strict=True)), start=Fraction())
    rest += (total % 1) * _DAYS_OF_MONTH * _DAY
    duration = Duration(int(total), int(rest))
    if duration <= (0, 0):
        raise ValidationFailed(field, "must be longer than 0")
    return duration


def parse_milliseconds(text: str | None, field: str) -> int | None:
    """Parse an ISO 8601 duration, with or without the prefix, into ms; None stays None."""
    if text is None:
        return None
    return parse_duration(_PREFIX + text.removeprefix(_PREFIX), field).milliseconds


def _add(now: int, duration: Duration) -> int:
    try:
        return duration.add_to(now)
    except (OverflowError, ValueError) as error:
        raise ValidationFailed("ttl", "must end before the year 10000") from error


def _add_months(start: int, months: int) -> int:
    before = datetime.fromtimestamp(start // 1000, UTC)
    year, month = divmod(before.year * 12 + before.month - 1 + months, 12)
    last_day = calendar.monthrange(year, month + 1)[1]
    after = before.replace(year=year, month=month + 1, day=min(before.day, last_day))
    return (after - EPOCH) // _MILLISECOND + start % 1000


def has_ended(item: Item, now: int) -> bool:
    """Tell whether an item with a TTL has expired; DynamoDB removes it within days."""
    return TTL_ATTRIBUTE in item and item[TTL_ATTRIBUTE] * 1000 <= now


_DURATIONS = (
    ("day", _DAY),
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

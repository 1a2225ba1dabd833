"""Times to live: `ttl` and `expires_at` of requests (RFC-0015 §1.1)."""

import re
from datetime import timedelta

from functions.platform.clock import to_rfc3339
from functions.platform.errors import ValidationFailed

_NUMBER = r"\d{1,9}(?:[.,]\d{1,9})?"
_DURATION = re.compile(
    rf"duration:(P(?=[\dT])(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?)",
    re.ASCII,
)


def compute_expiry(ttl: str | None, expires_at: int | None, now: int, *policies: str) -> int | None:
    """Compute when something expires (epoch ms); `expires_at` overrides `ttl` (RFC-0015 §1.1).

    Args:
        policies: values of `ttl` that set no time.

    Raises:
        ValidationFailed: `ttl` isn't valid, or the time isn't in the future.
    """
    after = None if ttl is None or ttl in policies else parse_duration(ttl, "ttl", *policies)
    if expires_at is None:
        return _add(now, after) if after is not None else None
    if expires_at <= now:
        raise ValidationFailed("expires_at", "lies in the past")
    return expires_at


def to_ttl_seconds(expiry: int | None) -> int | None:
    """Convert an expiry (epoch ms) for DynamoDB's TTL (epoch s), rounded up."""
    return None if expiry is None else -(-expiry // 1000)


def parse_duration(text: str, field: str, *policies: str) -> int:
    """Parse a `duration:<ISO 8601>` into milliseconds; a year has 365 days, a month 30.

    Raises:
        ValidationFailed: `text` is no duration; the message names `policies` as alternatives.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        names = ", ".join((*policies, "duration:<ISO 8601>"))
        raise ValidationFailed(field, f"is {names} or null")
    try:
        lifetime = _parse_iso8601(match.group(1)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise ValidationFailed(field, "holds no ISO 8601 duration, such as PT24H") from error
    if lifetime <= 0:
        raise ValidationFailed(field, "a duration must be longer than nothing")
    return lifetime


def _add(now: int, lifetime: int) -> int:
    try:
        to_rfc3339(now + lifetime)
    except OverflowError as error:
        raise ValidationFailed("ttl", "ends beyond the calendar") from error
    return now + lifetime


def _parse_iso8601(text: str) -> timedelta:
    """Parse an ISO 8601 duration. Raises `ValueError` if it is out of range."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - 60 ms, and few requests have a duration

    return TypeAdapter(timedelta).validate_python(text)

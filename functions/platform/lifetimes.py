"""How long something lives: `ttl` and `expires_at` as bodies give them (RFC-0015 §1.1)."""

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


def expiry(ttl: str | None, expires_at: int | None, now: int, *policies: str) -> int | None:
    """When something expires (epoch ms); a given `expires_at` wins (RFC-0015 §1.1).

    `policies` are values of `ttl` that set no moment.

    Raises:
        ValidationFailed: no such ttl, or a moment that isn't in the future.
    """
    after = None if ttl is None or ttl in policies else duration(ttl, "ttl", *policies)
    if expires_at is None:
        return _moment(now, after) if after is not None else None
    if expires_at <= now:
        raise ValidationFailed("expires_at", "lies in the past")
    return expires_at


def ttl_seconds(moment: int | None) -> int | None:
    """The time that DynamoDB's own TTL looks at, never before the moment itself."""
    return None if moment is None else -(-moment // 1000)


def duration(text: str, field: str, *policies: str) -> int:
    """The milliseconds of a `duration:<ISO 8601>`; years have 365 days, and months 30.

    Raises:
        ValidationFailed: it is none; `policies` are what else `field` may be.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        names = ", ".join((*policies, "duration:<ISO 8601>"))
        raise ValidationFailed(field, f"is {names} or null")
    try:
        lifetime = _timedelta(match.group(1)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise ValidationFailed(field, "holds no ISO 8601 duration, such as PT24H") from error
    if lifetime <= 0:
        raise ValidationFailed(field, "a duration must be longer than nothing")
    return lifetime


def _moment(now: int, lifetime: int) -> int:
    try:
        to_rfc3339(now + lifetime)
    except OverflowError as error:
        raise ValidationFailed("ttl", "ends beyond the calendar") from error
    return now + lifetime


def _timedelta(text: str) -> timedelta:
    """What an ISO 8601 duration says. Raises `ValueError` if it says too much."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - 60 ms, and few requests have a duration

    return TypeAdapter(timedelta).validate_python(text)

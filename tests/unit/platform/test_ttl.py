"""Test how long something is kept: `ttl` and `expires_at` (RFC-0015 §1.1)."""

import pytest

from functions.platform.clock import compute_expiry, from_rfc3339, to_ttl_seconds
from functions.platform.errors import ValidationFailed

NOW = 1_900_000_000_000  # ms
DAY = 86_400

DURATIONS = [
    ("PT1S", 1),
    ("PT0.5S", 0.5),
    ("PT90M", 5400),
    ("PT24H", DAY),
    ("P1D", DAY),
    ("P2W", 14 * DAY),
    ("P1DT2H3M4S", DAY + 7384),
    ("PT36H", 1.5 * DAY),
]
MALFORMED = [
    "duration:",
    "duration:P",
    "duration:PT",
    "duration:P1",
    "duration:1H",
    "duration:PT1H ",
    " duration:PT1H",
    "duration:-PT1H",
    "duration:PT-1H",
    "duration:PT1H1D",
    "duration:P1DT",
    "duration:pt1h\n",
    "duration:PT٣H",
    "duration:PTNaNS",
    "duration:P99999999999999D",
    "duration:PT" + "9" * 5000 + "S",
    "PT1H",
    "forever",
    "",
]


@pytest.mark.parametrize(("duration", "seconds"), DURATIONS)
def test_a_duration_counts_from_now(duration: str, seconds: float) -> None:
    assert compute_expiry(f"duration:{duration}", None, NOW) == NOW + int(1000 * seconds)


@pytest.mark.parametrize("ttl", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_ttl_is_rejected(ttl: str) -> None:
    with pytest.raises(ValidationFailed, match="ttl"):
        compute_expiry(ttl, None, NOW, "task_lifetime")


@pytest.mark.parametrize(
    ("duration", "start", "end"),
    [
        ("P1M", "2026-01-31T10:00:00.005Z", "2026-02-28T10:00:00.005Z"),
        ("P1M", "2028-01-31T00:00:00.000Z", "2028-02-29T00:00:00.000Z"),
        ("P1Y", "2028-02-29T00:00:00.000Z", "2029-02-28T00:00:00.000Z"),
        ("P1Y2M", "2026-11-22T00:00:00.000Z", "2028-01-22T00:00:00.000Z"),
        ("P1Y2M3DT4H", "2026-11-22T00:00:00.000Z", "2028-01-25T04:00:00.000Z"),
        ("P0.5Y", "2026-01-01T00:00:00.000Z", "2026-07-01T00:00:00.000Z"),
        ("P1.5M", "2026-01-01T00:00:00.000Z", "2026-02-16T00:00:00.000Z"),
    ],
)
def test_months_and_years_are_those_of_the_calendar(duration: str, start: str, end: str) -> None:
    expiry = compute_expiry(f"duration:{duration}", None, from_rfc3339(start))
    assert expiry == from_rfc3339(end)


def test_a_duration_beyond_the_calendar_is_rejected() -> None:
    for duration in ("P9999Y", "P999999999M", "P99999999999D"):
        with pytest.raises(ValidationFailed, match="ttl"):
            compute_expiry(f"duration:{duration}", None, NOW)


def test_a_moment_wins_over_a_duration_and_lies_in_the_future() -> None:
    assert compute_expiry("duration:P1D", NOW + 1, NOW) == NOW + 1
    for past in (NOW, NOW - 1):
        with pytest.raises(ValidationFailed, match="expires_at"):
            compute_expiry(None, past, NOW)


def test_a_policy_sets_no_moment() -> None:
    assert compute_expiry("task_lifetime", None, NOW, "task_lifetime") is None
    assert compute_expiry(None, None, NOW) is None


@pytest.mark.parametrize(("moment", "seconds"), [(None, None), (1000, 1), (1001, 2), (1999, 2)])
def test_dynamodb_never_removes_before_the_moment(moment: int | None, seconds: int | None) -> None:
    assert to_ttl_seconds(moment) == seconds

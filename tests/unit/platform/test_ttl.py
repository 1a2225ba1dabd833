"""How long something lives: `ttl` and `expires_at` (RFC-0015 §1.1)."""

import pytest

from functions.platform.errors import ValidationFailed
from functions.platform.ttl import compute_expiry, to_ttl_seconds

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

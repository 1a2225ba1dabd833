"""Test that retries on conflict end after some attempts, or after twenty seconds."""

import time

import pytest

from functions.platform.errors import Throttled
from functions.platform.retry import Backoff


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the waits, which take no time; each is as long as it may be."""
    recorded: list[float] = []
    monkeypatch.setattr("time.sleep", recorded.append)
    monkeypatch.setattr("random.uniform", lambda _, bound: bound)
    return recorded


def test_waits_double_up_to_the_longest(waits: list[float]) -> None:
    backoff = Backoff("busy", attempts=5, longest_wait=0.05)
    for _ in range(4):
        backoff.wait()
    assert waits == [0.01, 0.02, 0.04, 0.05]


def test_the_last_failed_attempt_raises_throttled(waits: list[float]) -> None:
    backoff = Backoff("others are writing", attempts=2)
    backoff.wait()
    with pytest.raises(Throttled, match="others are writing; try again in a second"):
        backoff.wait()
    assert len(waits) == 1


def test_no_attempt_begins_after_the_deadline(
    waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    backoff = Backoff("busy")
    after = time.monotonic() + 20
    monkeypatch.setattr("time.monotonic", lambda: after + 1)
    with pytest.raises(Throttled):
        backoff.wait()
    assert waits == []


def test_waits_are_random_below_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[float] = []
    monkeypatch.setattr("time.sleep", recorded.append)
    for _ in range(100):
        Backoff("busy").wait()
    assert len(set(recorded)) > 90
    assert max(recorded) <= 0.01

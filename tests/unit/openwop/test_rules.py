"""Test what a snapshot shows, what keeps an entry in storage, and when a run is over."""

import pytest

from functions.openwop.model import MemoryEntry, MemoryRun
from functions.openwop.rules import (
    assert_content_fits,
    assert_not_expired,
    clean_tags,
    compute_next_look,
    is_visible,
    parse_retention,
    parse_run_lifetime,
)
from functions.platform.errors import ValidationFailed, ValueTooLarge

ENTRY = MemoryEntry(sequence=10, suffix="s", content="c", tags=())


@pytest.mark.parametrize(
    ("deleted", "snapshot", "visible"),
    [
        (None, None, True),
        (20, None, False),
        (None, 11, True),
        (None, 10, False),  # written at the snapshot, so not before it
        (None, 9, False),
        (20, 15, True),
        (20, 20, False),
        (20, 21, False),
    ],
)
def test_what_a_snapshot_shows(deleted: int | None, snapshot: int | None, visible: bool) -> None:
    entry = ENTRY._replace(deleted=deleted)
    assert is_visible(entry, snapshot, now=0) == visible


@pytest.mark.parametrize("snapshot", [None, 15])
def test_an_expired_entry_is_visible_nowhere(snapshot: int | None) -> None:
    entry = ENTRY._replace(expires_at=100)
    assert [is_visible(entry, snapshot, now) for now in (99, 100, 101)] == [True, False, False]


RUN = MemoryRun(
    "run_1", ("m",), 5, "ada", started_at=0, deadline=100, retention=1000, on_secret="redact"
)


def test_a_run_is_closed_once_it_was_ended_or_at_its_deadline() -> None:
    assert [RUN.is_closed(now) for now in (0, 99, 100)] == [False, False, True]
    assert RUN._replace(ended_at=50).is_closed(60)


@pytest.mark.parametrize(
    ("ended", "now", "state", "kept_until"),
    [
        (None, 99, "open", 1100),
        (None, 100, "expired", 1100),
        (50, 60, "ended", 1050),
        (50, 2000, "ended", 1050),
        (120, 130, "expired", 1100),  # by a clock that runs behind
    ],
)
def test_a_snapshot_is_kept_from_the_end_of_its_run(
    ended: int | None, now: int, state: str, kept_until: int
) -> None:
    run = RUN._replace(ended_at=ended)
    assert (run.get_state(now), run.snapshot_kept_until) == (state, kept_until)


def test_a_deleted_entry_that_an_open_run_sees_is_looked_at_each_hour() -> None:
    hour = 3_600_000
    assert compute_next_look(10 * hour, 0, is_any_open=True) == hour
    assert compute_next_look(5, 0, is_any_open=True) == 5
    assert compute_next_look(10 * hour, 0, is_any_open=False) == 10 * hour


@pytest.mark.parametrize(
    ("duration", "lifetime"),
    [
        (None, 86_400_000),
        (60, 60_000),
        ("PT1H", 3_600_000),
        ("duration:P2D", 172_800_000),
        ("P30D", 2_592_000_000),
        (0, None),
        ("PT0S", None),
        ("P31D", None),
        (2_592_001, None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_how_long_a_run_may_last(duration: int | str | None, lifetime: int | None) -> None:
    if lifetime is not None:
        assert parse_run_lifetime(duration) == lifetime
        return
    with pytest.raises(ValidationFailed):
        parse_run_lifetime(duration)


@pytest.mark.parametrize(
    ("duration", "retention"),
    [(None, 30), (0, 0), ("PT0S", 0), ("P0D", 0), ("P365D", 365), (86_400, 1), ("P366D", None)],
)
def test_how_long_a_snapshot_may_be_kept(duration: int | str | None, retention: int | None) -> None:
    if retention is not None:
        assert parse_retention(duration) == retention * 86_400_000
        return
    with pytest.raises(ValidationFailed):
        parse_retention(duration)


def test_what_an_entry_may_be() -> None:
    assert clean_tags(["b", "", "a", "b"]) == ("b", "a")
    assert_content_fits("ü" * 32_768)
    with pytest.raises(ValueTooLarge):
        assert_content_fits("ü" * 32_768 + "x")
    assert_not_expired(101, 100)
    with pytest.raises(ValidationFailed):
        assert_not_expired(100, 100)

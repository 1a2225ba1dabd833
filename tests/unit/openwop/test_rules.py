"""Contract §7: what a snapshot shows, what keeps an entry in storage, when a run is over."""

from dataclasses import replace

import pytest

from functions.openwop.model import MemoryEntry, MemoryRun
from functions.openwop.rules import (
    SETTLING_TIME,
    assert_content_fits,
    assert_not_expired,
    clean_tags,
    is_pinned,
    is_settled,
    is_visible,
)
from functions.platform.errors import ValidationFailed, ValueTooLarge
from functions.platform.openwop_keys import get_first_sequence

ENTRY = MemoryEntry(sequence=10, suffix="s", content="c", tags=(), id="mem_1", created=0)


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
    entry = replace(ENTRY, deleted=deleted)
    assert is_visible(entry, snapshot, now=0) == visible
    if deleted is not None and snapshot is not None:
        assert is_pinned(entry.sequence, deleted, [snapshot]) == visible


@pytest.mark.parametrize("snapshot", [None, 15])
def test_an_expired_entry_is_visible_nowhere(snapshot: int | None) -> None:
    entry = replace(ENTRY, expires=100)
    assert [is_visible(entry, snapshot, now) for now in (99, 100, 101)] == [True, False, False]


def test_a_deletion_settles_after_a_while() -> None:
    sequence = get_first_sequence(1_000_000) + 7
    assert not is_settled(sequence, 1_000_000 + SETTLING_TIME - 1)
    assert is_settled(sequence, 1_000_000 + SETTLING_TIME)


def test_a_run_is_closed_once_it_was_ended_or_at_its_deadline() -> None:
    run = MemoryRun("run_1", snapshot=5, deadline=100, on_secret="redact")
    assert [run.is_closed(now) for now in (0, 99, 100)] == [False, False, True]
    assert replace(run, ended=True).is_closed(0)


def test_what_an_entry_may_be() -> None:
    assert clean_tags(["b", "", "a", "b"]) == ("b", "a")
    assert_content_fits("ü" * 32_768)
    with pytest.raises(ValueTooLarge):
        assert_content_fits("ü" * 32_768 + "x")
    assert_not_expired(101, 100)
    with pytest.raises(ValidationFailed):
        assert_not_expired(100, 100)

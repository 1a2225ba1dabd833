"""Test what is evicted, pinned and refused at a limit (RFC-0015 §2.2, §7, §9.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.entries.agent_store import AgentUsage
from functions.entries.batch import split_deletions
from functions.entries.capacity import (
    apply_pinned_namespaces,
    is_nearly_full,
    select_evictions,
)
from functions.entries.counters import CounterDelta, assert_working_fits
from functions.entries.model import Entry, Transition
from functions.entries.tiers import Priority
from functions.platform.errors import CapacityExceeded
from functions.platform.limits import MAX_TRANSACTION_WRITES
from tests.unit.entries.making import NOW, make_entry

CANDIDATES = [make_entry(key=f"k{n}") for n in range(6)]
EXPIRED = [make_entry(key=f"x{n}", expires_at=NOW) for n in range(4)]
COUNTS = st.integers(0, 8)


def removed(transitions: tuple[Transition, ...], reason: str) -> list[Entry]:
    return [each.old for each in transitions if each.reason == reason and each.old is not None]


@given(st.lists(st.sampled_from(EXPIRED), unique=True), COUNTS, COUNTS)
def test_expired_entries_go_first_and_then_the_first_candidates(
    expired: list[Entry], count: int, max_expired: int
) -> None:
    selected = select_evictions(expired, CANDIDATES, count, max_expired)
    gone = removed(selected, "expired")
    assert gone == expired[:max_expired]
    assert removed(selected, "evicted") == CANDIDATES[: max(count - len(gone), 0)]


@given(st.sets(st.sampled_from([*EXPIRED, *CANDIDATES])), COUNTS)
def test_nothing_that_is_kept_is_removed_and_nothing_twice(kept: set[Entry], count: int) -> None:
    keys = {entry.item_key for entry in kept}
    both = [*EXPIRED, *CANDIDATES]  # an index that lags behind lists expired entries as candidates
    selected = [each.item_key for each in select_evictions(EXPIRED, both, count, 2, keys)]
    assert not keys & set(selected)
    assert len(selected) == len(set(selected))


def test_expired_working_memory_frees_no_capacity_for_episodes() -> None:
    assert select_evictions([make_entry("working", expires_at=NOW)], [], 1, 5) == ()


ACCESSES = st.tuples(st.sampled_from(("low", "normal", "high")), st.integers(0, 2**40))


@given(st.lists(ACCESSES, min_size=2, max_size=6))
def test_eviction_goes_by_priority_and_then_by_the_last_access(
    accesses: list[tuple[Priority, int]],
) -> None:
    made = [make_entry(priority=priority, last_accessed_at=at) for priority, at in accesses]
    ranks = {"low": 0, "normal": 1, "high": 2}
    first = min(made, key=lambda entry: entry.eviction_order or "")
    assert (ranks[first.priority], first.last_accessed_at) == min(
        (ranks[priority], at) for priority, at in accesses
    )


@pytest.mark.parametrize("entry", [make_entry(pinned=True), make_entry("working")])
def test_what_is_pinned_or_not_episodic_is_never_evicted(entry: Entry) -> None:
    assert entry.eviction_order is None


def test_settings_pin_new_entries_of_their_namespaces_and_agent_alone() -> None:
    asked = Transition(None, make_entry(pinned_by_settings=True))
    other = Transition(None, make_entry(agent_id="bob", pinned_by_settings=True))
    said = Transition(None, make_entry())
    gone = Transition(make_entry(), None)
    pinned = apply_pinned_namespaces((asked, other, said, gone), "ada", frozenset({"notes"}))
    assert [each.new.pinned for each in pinned if each.new] == [True, False, False]
    assert pinned[1:] == (other, said, gone)
    assert apply_pinned_namespaces((asked,), "ada", frozenset({"others"})) == (asked,)


@pytest.mark.parametrize(
    ("more", "free", "error"),
    [
        (CounterDelta(working=1), (0, 9), ("max_entries", 10, 10)),
        (CounterDelta(working=3), (2, 9), ("max_entries", 8, 10)),
        (CounterDelta(working_bytes=2), (9, 1), ("max_total_size_kb", 2, 2)),
        (CounterDelta(working_bytes=2), (9, 2), None),
        (CounterDelta(working=2), (2, 0), None),
        (CounterDelta(working=-1), (-5, 0), None),
        (CounterDelta(episodic=1), (0, 0), None),
    ],
)
def test_working_memory_is_limited_in_entries_and_bytes(
    more: CounterDelta, free: tuple[int, int], error: tuple[str, int, int] | None
) -> None:
    write = [Transition(None, make_entry("working"), 3)]
    if error is None:
        assert_working_fits(write, lambda _: {"t": more}, "t", free, (10, 2048))
        return
    with pytest.raises(CapacityExceeded) as raised:
        assert_working_fits(write, lambda _: {"t": more}, "t", free, (10, 2048))
    assert (*raised.value.members.values(), raised.value.index) == (*error, 3)
    says_reached = " is reached: " in raised.value.message
    assert says_reached == (error[1] >= error[2])


@pytest.mark.parametrize(
    ("capacity", "left", "full"),
    [
        (1000, 101, False),
        (1000, 100, True),
        (1000, -5, True),
        (10, 9, True),
        (5000, 501, False),
        (5000, 500, True),
    ],
)
def test_an_eviction_is_near_where_few_more_entries_fit(
    capacity: int, left: int, full: bool
) -> None:
    assert is_nearly_full(AgentUsage(episodic_capacity=capacity, episodic_room=left)) is full


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=80))
def test_deletions_are_split_in_order_into_transactions_that_fit(
    shapes: list[tuple[int, bool]],
) -> None:
    entries = [
        make_entry(
            "semantic", str(n), tags=tuple(map(str, range(tags))), task_id="t" if task else None
        )
        for n, (tags, task) in enumerate(shapes)
    ]
    chunks = list(split_deletions(entries))
    assert [entry for chunk in chunks for entry in chunk] == entries
    for chunk in chunks:
        assert 1 <= len(chunk) <= 25
        writes = sum(3 + len(entry.tags) + (entry.task_id is not None) for entry in chunk)
        assert writes + 10 <= MAX_TRANSACTION_WRITES

"""Test that the changes of counters follow from the changes of entries."""

from dataclasses import fields
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from functions.entries.agent_store import AgentUsage, build_agent_correction, to_usage
from functions.entries.counters import (
    CounterDelta,
    EntryCounts,
    count_agent_changes,
    count_task_changes,
)
from functions.entries.model import Entry, Transition
from functions.entries.tiers import Tier
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES
from tests.unit.entries.making import make_entry

KEY = ("acme#a#ada", "a")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """An entry of ada's in any state."""
    tier: Tier = draw(st.sampled_from(get_args(Tier)))
    task = draw(st.sampled_from((None, "t1", "t2")))
    ttl = draw(st.sampled_from((None, "task_lifetime"))) if task else None
    pinned = tier == "episodic" and draw(st.booleans())
    key, kb = draw(st.sampled_from("abc")), draw(st.integers(1, 64))
    own = tier == "working" and task is not None and draw(st.booleans())
    return make_entry(
        tier, key, value_bytes=kb, task_id=task, ttl=ttl, pinned=pinned, is_in_own_task=own
    )


def count(entries: list[Entry]) -> EntryCounts:
    counts = EntryCounts()
    for entry in entries:
        if entry.policy.is_private:
            counts.add(entry)
    return counts


def numbers(counted: CounterDelta | EntryCounts) -> dict[str, int]:
    names = ["episodic", "episodic_bytes", "pinned", "working", "working_bytes", "own", "own_bytes"]
    return {name: getattr(counted, name) for name in names}


@given(st.lists(st.tuples(st.none() | entries(), st.none() | entries()), max_size=8))
def test_counters_change_by_what_is_counted_after_less_what_was_before(
    pairs: list[tuple[Entry | None, Entry | None]],
) -> None:
    transitions = [Transition(old, new) for old, new in pairs if old or new]
    before = count([each.old for each in transitions if each.old])
    after = count([each.new for each in transitions if each.new])
    delta = count_agent_changes(transitions).get("ada", CounterDelta())
    expected = {name: n - numbers(before)[name] for name, n in numbers(after).items()}
    assert numbers(delta) == expected
    tasks = count_task_changes(transitions)
    for task in ("t1", "t2"):
        n, kb = (b - a for a, b in zip(before.tasks[task], after.tasks[task], strict=True))
        changed = tasks.get(task, CounterDelta())
        assert (changed.working, changed.working_bytes) == (n, kb)


@given(st.lists(entries(), max_size=6))
def test_what_is_created_and_removed_counts_nothing(made: list[Entry]) -> None:
    there_and_back = [Transition(None, each) for each in made]
    there_and_back += [Transition(each, None) for each in made]
    assert count_agent_changes(there_and_back) == {}
    for delta in count_task_changes(there_and_back).values():
        assert delta == CounterDelta(has_creates=True)


def test_entries_that_end_with_a_task_are_attached_to_it() -> None:
    episode = make_entry("episodic", task_id="t", ttl="task_lifetime")
    loose = make_entry("semantic", task_id="t")
    deltas = count_task_changes([Transition(None, episode), Transition(None, loose)])
    assert deltas == {"t": CounterDelta(attached=1, has_creates=True)}


def test_an_update_of_the_same_size_changes_no_counter() -> None:
    entry = make_entry("working", task_id="t")
    transition = Transition(entry, entry._replace(version=2))
    assert count_agent_changes([transition]) == count_task_changes([transition]) == {}


def test_the_slot_of_an_expired_entry_counts_as_a_create() -> None:
    old, new = make_entry("working", task_id="t"), make_entry("working", task_id="t")
    assert Transition(old, new).is_create
    assert count_task_changes([Transition(old, new)]) == {"t": CounterDelta(has_creates=True)}
    assert not Transition(old, old._replace(version=2)).is_create
    assert not Transition(old, None).is_create


def test_settings_that_may_pin_are_part_of_the_change() -> None:
    asked = Transition(None, make_entry(pinned_by_settings=True))
    assert count_agent_changes([asked])["ada"].unpinned_namespaces == {"notes"}
    given = Transition(None, make_entry(pinned=True, pinned_by_settings=True))
    assert count_agent_changes([given])["ada"].unpinned_namespaces == set()


def test_an_agent_without_an_item_has_all_its_capacity() -> None:
    usage = to_usage(None)
    assert usage == AgentUsage()
    assert (usage.episodic_room, usage.episodic_entry_count) == (DEFAULT_EPISODIC_ENTRIES, 0)
    assert (
        usage.working_outside_tasks,
        usage.working_bytes_outside_tasks,
        usage.episodic_pinned_namespaces,
    ) == (0, 0, frozenset())


@given(
    st.fixed_dictionaries(
        {}, optional={each.name: st.integers(0, 50) for each in fields(EntryCounts)[:7]}
    ),
    st.integers(1, 2000),
)
def test_corrected_counters_need_no_correction(held: dict[str, Any], capacity: int) -> None:
    counts, item = (
        EntryCounts(**held),
        {"episodic_capacity": capacity, "episodic_room": 7, "counter_changes": 3},
    )
    write = build_agent_correction(KEY, item, counts)
    corrected: dict[str, Any] = item if write is None else item | write.values
    assert build_agent_correction(KEY, corrected, counts) is None
    usage = to_usage(corrected)
    assert (
        usage.episodic_entry_count,
        usage.working_outside_tasks,
        usage.working_own_entries,
        usage.episodic_pinned_count,
    ) == (
        counts.episodic,
        counts.working - counts.own,
        counts.own,
        counts.pinned,
    )

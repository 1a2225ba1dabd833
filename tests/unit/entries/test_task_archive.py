"""Test how an ended task's entries are divided among transactions, parts and events."""

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.entries.archive import Part, build_archived_events, split_into_moves
from functions.entries.model import Entry
from functions.events.model import build_event_id
from functions.tasks.model import Policy, Task
from tests.unit.entries.making import NOW, make_entry

TASK = Task("t", "i", "completed", 2, 1, NOW, Policy(), completed_at=NOW)


def make_value(size: int) -> bytes:
    """Return a value of about `size` bytes."""
    return json.dumps({"x": "x" * size}).encode()


ENTRIES = st.lists(
    st.tuples(st.sampled_from(["ada", "bob"]), st.sampled_from([10, 30_000, 65_000])), max_size=60
).map(
    lambda drawn: [
        make_entry("working", f"k{number}", agent_id=agent, task_id="t", value=make_value(size))
        for number, (agent, size) in enumerate(drawn)
    ]
)


@given(ENTRIES)
def test_a_move_has_entries_of_one_agent_that_fit_a_part(entries: list[Entry]) -> None:
    moves = [move for _, move in split_into_moves(TASK, entries)]
    moved = [entry.key for move in moves for entry in move]
    assert sorted(moved) == sorted(entry.key for entry in entries)
    for move in moves:
        assert len({entry.agent_id for entry in move}) == 1
        assert len(move) <= 40
        assert Part.of("acme", "t", move).size <= 250_000


@given(ENTRIES)
def test_no_more_moves_are_made_than_are_needed(entries: list[Entry]) -> None:
    for first, second in pairwise(move for _, move in split_into_moves(TASK, entries)):
        if first[0].agent_id == second[0].agent_id:
            is_full = len(first) == 40
            assert is_full or Part.of("acme", "t", [*first, second[0]]).size > 240_000


def test_semantic_entries_move_alone_for_their_index_rows() -> None:
    entries = [make_entry("semantic", f"k{n}", task_id="t", ttl="task_lifetime") for n in range(3)]
    assert [len(move) for _, move in split_into_moves(TASK, entries)] == [1, 1, 1]


@given(ENTRIES, st.randoms())
def test_every_attempt_builds_the_same_events(entries: list[Entry], rng: random.Random) -> None:
    parts = [Part.of("acme", "t", move) for _, move in split_into_moves(TASK, entries)]
    events = list(build_archived_events("acme", TASK, parts))
    rng.shuffle(parts)
    stored = [
        Part.from_item(
            {
                "pk": part.key[0],
                "sk": part.key[1],
                "agent_id": part.agent,
                "lines": part.compressed,
            }
        )
        for part in parts
    ]
    again = list(build_archived_events("acme", TASK, stored))
    assert [event.id for event in again] == [event.id for event in events]
    assert json.dumps([event.data for event in again]) == json.dumps(
        [event.data for event in events]
    )
    lines = [line["key"] for event in events for line in event.data["snapshot"]]
    assert sorted(lines) == sorted(entry.key for entry in entries)


def test_a_snapshot_that_no_response_holds_becomes_several_events() -> None:
    entries = [
        make_entry("working", f"k{n:03}", task_id="t", value=make_value(60_000)) for n in range(100)
    ]
    parts = [Part.of("acme", "t", move) for _, move in split_into_moves(TASK, entries)]
    events = list(build_archived_events("acme", TASK, parts))
    assert [(event.data["part"], event.data["parts"]) for event in events] == [
        (number + 1, len(events)) for number in range(len(events))
    ]
    assert len(events) == len({event.id for event in events}) == 3
    assert sum(event.data["entries_archived"] for event in events) == 100
    for event in events:
        assert len(json.dumps(event.data["snapshot"])) <= 2_600_000


def test_a_sensitive_entry_is_archived_without_its_value() -> None:
    sensitive = make_entry("working", task_id="t", value=b'{"s":1}', sensitivity="restricted")
    plain = make_entry("working", "p", task_id="t", value=b'{"s":1}', sensitivity="internal")
    lines = Part.of("acme", "t", [sensitive, plain]).lines
    assert ["value" in line for line in lines] == [False, True]
    assert [line["sensitivity"] for line in lines] == ["restricted", "internal"]


def test_what_expired_before_the_end_is_in_no_archive() -> None:
    entries = [
        make_entry("working", f"k{n}", task_id="t", expires_at=expires)
        for n, expires in enumerate((NOW - 1, NOW, NOW + 1, None))
    ]
    moves = {
        reason: [each.key for each in move] for reason, move in split_into_moves(TASK, entries)
    }
    assert moves == {"expired": ["k0", "k1"], "archived": ["k2", "k3"]}


@pytest.mark.parametrize(
    ("changes", "event", "moment"),
    [
        ({"version": 8, "updated_at": NOW + 20}, "memory.updated", NOW + 20),
        ({"version": 1, "updated_at": NOW}, "memory.created", NOW),
    ],
)
def test_an_archival_waits_for_the_last_event_of_an_entry(
    changes: dict[str, Any], event: str, moment: int
) -> None:
    entry = make_entry("working", **changes)
    part = Part.of("acme", "t", [entry])
    awaited = {build_event_id("acme", entry.id, entry.version, event): moment}
    assert part.list_last_events(moment) == awaited
    stored = {"pk": part.key[0], "sk": part.key[1], "agent_id": "ada", "lines": part.compressed}
    assert Part.from_item(stored).list_last_events(moment) == awaited

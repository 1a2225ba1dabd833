"""The order of a sweep, and what one transaction removes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from functions.platform.keys import DueKey
from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.schedule.sweep import (
    TurnQueue,
    count_removal_writes,
    group_removals,
)

NOW = 1_900_000_000_000  # ms


def item(owner: str, number: int, tags: int | None, task: bool) -> dict[str, Any]:
    """The item of an entry; None tags is private memory."""
    made: dict[str, Any] = {"pk": owner, "sk": f"e#{number}", "memory_type": "working"}
    if tags is not None:
        made |= {"memory_type": "semantic", "tags": [f"t{n}" for n in range(tags)]}
    return made | ({"task_id": "task_1"} if task else {})


ITEMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 50), st.booleans()), max_size=120
).map(lambda drawn: [item(owner, n, tags, task) for n, (owner, tags, task) in enumerate(drawn)])


@given(ITEMS)
def test_batches_hold_every_entry_once_of_one_tenant_and_fit_a_transaction(
    items: list[dict[str, Any]],
) -> None:
    made = list(group_removals(items))
    assert sorted(each["sk"] for batch in made for each in batch) == sorted(
        each["sk"] for each in items
    )
    for batch in made:
        owners = {each["pk"] for each in batch}
        assert len(owners) == 1 or not any("task_id" in each for each in batch)
        writes = sum(count_removal_writes(each, owners) for each in batch) + len(owners)
        assert writes < MAX_TRANSACTION_WRITES


def test_few_entries_of_one_owner_go_together() -> None:
    assert [
        len(batch) for batch in group_removals([item("a", n, None, False) for n in range(45)])
    ] == [45]


def test_entries_of_several_owners_go_together_unless_a_task_counts_them() -> None:
    owners = [item(f"acme#a#{n}", n, None, False) for n in range(30)]
    assert [len(batch) for batch in group_removals(owners)] == [30]
    of_task = [each | {"task_id": "task_1"} for each in owners]
    assert [len(batch) for batch in group_removals(of_task)] == [1] * 30
    strangers = [item(f"t{n}#a#x", n, None, False) for n in range(3)]
    assert [len(batch) for batch in group_removals(strangers)] == [1, 1, 1]


def test_a_removal_takes_a_write_for_all_that_it_changes() -> None:
    assert count_removal_writes(item("a", 1, None, task=False)) == 3  # entry, notice, counters
    assert count_removal_writes(item("a", 1, None, task=True)) == 4  # the task's count
    assert (
        count_removal_writes(item("n", 1, 2, task=False), "n") == 5
    )  # a row for all, and one a tag


def test_tenants_take_turns_the_longest_due_of_each_first() -> None:
    queue = TurnQueue(capacity=5)
    for number in range(9):
        queue.add(DueKey(NOW - number, ("flood#a#x", f"e#{number}")))
    queue.add(DueKey(NOW, ("other#a#y", "e#0")))
    turns = [[sort for _, sort in turn] for turn in queue.iterate_turns(2)]
    assert turns == [["e#4", "e#3"], ["e#0"], ["e#2", "e#1"], ["e#0"]]
    assert queue.first == NOW - 8

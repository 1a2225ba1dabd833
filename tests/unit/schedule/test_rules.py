"""The order of a sweep, and what one transaction removes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.schedule.rules import count_removal_writes, group_removals, rotate_shards

SHARDS = ("0", "1", "2", "3")
MINUTE = 60_000


def item(owner: str, number: int, tags: int | None, task: bool) -> dict[str, Any]:
    """The item of an entry; None tags is private memory."""
    made: dict[str, Any] = {"pk": owner, "sk": f"e#{number}", "tier": "working"}
    if tags is not None:
        made |= {"tier": "semantic", "tags": [f"t{n}" for n in range(tags)]}
    return made | ({"task": "task_1"} if task else {})


ITEMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 50), st.booleans()), max_size=120
).map(lambda drawn: [item(owner, n, tags, task) for n, (owner, tags, task) in enumerate(drawn)])


@given(ITEMS)
def test_batches_hold_every_entry_once_of_one_owner_and_fit_a_transaction(
    items: list[dict[str, Any]],
) -> None:
    made = list(group_removals(items))
    assert sorted(each["sk"] for batch in made for each in batch) == sorted(
        each["sk"] for each in items
    )
    for batch in made:
        assert len({each["pk"] for each in batch}) == 1
        assert (
            sum(map(count_removal_writes, batch)) < MAX_TRANSACTION_WRITES
        )  # the agent's counters fit in


def test_few_entries_of_one_owner_go_together() -> None:
    assert [
        len(batch) for batch in group_removals([item("a", n, None, False) for n in range(45)])
    ] == [45]


def test_a_removal_takes_a_write_for_all_that_it_changes() -> None:
    assert count_removal_writes(item("a", 1, None, task=False)) == 2  # entry, notice
    assert count_removal_writes(item("a", 1, None, task=True)) == 3  # the task's count
    assert count_removal_writes(item("n", 1, 2, task=False)) == 5  # a row for all, and one a tag


def test_each_minute_another_shard_comes_first() -> None:
    firsts = [rotate_shards(SHARDS, minute * MINUTE)[0] for minute in range(8)]
    assert firsts == [*SHARDS, *SHARDS]
    assert rotate_shards(SHARDS, 2 * MINUTE) == ["2", "3", "0", "1"]

"""What entries in a task's scope ask of tasks and intents, and what a failed condition says."""

from typing import Any

import pytest

from functions.entries.model import Transition
from functions.entries.task_scope import (
    NOTHING_KNOWN,
    TaskAssumptions,
    assert_intent_is_free,
    build_task_writes,
    find_scopes,
    resolve_task_conflict,
)
from functions.platform.errors import (
    AccessDenied,
    CapacityExceeded,
    ServiceError,
    TaskClosed,
    ValidationFailed,
)
from functions.platform.items import Item
from functions.platform.limits import DEFAULT_TASK_KB
from functions.platform.task_keys import build_intent_key, build_task_key, build_task_set_key
from functions.tasks.mapper import task_to_item
from functions.tasks.model import Policy, Task
from tests.unit.entries.making import NOW, make_entry, make_principal

ADA = make_principal()
TASK, INTENT = build_task_key("acme", "t"), build_intent_key("acme", "i")


def create(key: str = "k", index: int = 0, **fields: Any) -> Transition:
    fields = {"task": "t"} | fields
    return Transition(None, make_entry("working", key, **fields), index)


def task_item(**fields: Any) -> Item:
    """The item of an open task of ada's with room for everything."""
    given: dict[str, Any] = {
        "assignee": "ada",
        "free_entries": 100,
        "free_bytes": 1024,
        "intent": None,
    }
    given |= fields
    task = Task("t", status="running", version=1, created=0, updated=0, policy=Policy(), **given)
    return {name: value for name, value in task_to_item(task).items() if value is not None}


def written(
    *transitions: Transition, known: TaskAssumptions = NOTHING_KNOWN
) -> list[tuple[str, Any]]:
    """The verbs and keys that transitions write and check."""
    writes = build_task_writes(ADA, transitions, NOW, known)
    return [(write.verb, write.key) for write in writes]


def resolve(
    item: Item | None, *transitions: Transition, known: TaskAssumptions = NOTHING_KNOWN
) -> TaskAssumptions:
    return resolve_task_conflict(ADA, transitions or (create(),), NOW, known, (TASK, item))


def test_entries_outside_tasks_write_nothing() -> None:
    assert written(create(task=None)) == []


def test_a_task_is_written_once_however_many_entries_it_gets() -> None:
    assert written(create("a"), create("b")) == [("Update", TASK)]


def test_the_first_entry_of_an_agent_joins_the_task() -> None:
    known = TaskAssumptions(unjoined=frozenset({"t"}))
    joins = ("Update", build_task_set_key("acme", "ada"))
    assert written(create(), known=known) == [("Update", TASK), joins]


def test_a_write_to_an_unregistered_task_registers_it_and_uses_its_intent() -> None:
    known = TaskAssumptions(unregistered=frozenset({"t"}))
    keys = [key for _, key in written(create(intent="i"), known=known)]
    assert keys[0] == TASK
    assert keys[-1] == INTENT
    assert build_task_set_key("acme", "ada") in keys


def test_an_episode_that_outlives_its_task_only_checks_the_role() -> None:
    episode = Transition(None, make_entry(task="t"))
    assert written(episode) == [("ConditionCheck", TASK)]


def test_a_removal_adjusts_the_task() -> None:
    assert written(Transition(make_entry("working", task="t"), None)) == [("Update", TASK)]


def test_an_intent_without_a_task_is_used() -> None:
    assert written(create(task=None, intent="i")) == [("Update", INTENT)]


def test_the_scope_that_says_most_counts() -> None:
    without, with_intent = create("a"), create("b", intent="i")
    assert find_scopes((without, with_intent)) == {"t": with_intent}
    with pytest.raises(ValidationFailed):
        find_scopes((with_intent, create("c", intent="j")))


def test_a_task_that_is_registered_by_a_write_has_the_default_limits() -> None:
    known = TaskAssumptions(unregistered=frozenset({"t"}))
    with pytest.raises(CapacityExceeded) as error:
        written(create(size=1024 * DEFAULT_TASK_KB + 1, index=4), known=known)
    assert (error.value.members["limit"], error.value.index) == ("max_total_size_kb", 4)


def test_what_a_conflict_says_is_known_in_the_next_attempt() -> None:
    assert resolve(None) == TaskAssumptions(unregistered=frozenset({"t"}))
    assert resolve(task_item()) == TaskAssumptions(unjoined=frozenset({"t"}))
    known = TaskAssumptions(unregistered=frozenset({"t"}))
    assert resolve(task_item(), known=known) == NOTHING_KNOWN


def test_conflicts_of_other_items_say_nothing() -> None:
    for key in (INTENT, build_task_key("acme", "u")):
        failed = (key, None)
        assert resolve_task_conflict(ADA, (create(),), NOW, NOTHING_KNOWN, failed) == NOTHING_KNOWN


@pytest.mark.parametrize(
    ("item", "entry", "error"),
    [
        (task_item(assignee="bob"), {}, AccessDenied),
        (task_item(ended=NOW), {}, TaskClosed),
        (task_item(intent="j"), {"intent": "i"}, ValidationFailed),
        (task_item(free_entries=0), {}, CapacityExceeded),
        (task_item(free_bytes=1), {"size": 2}, CapacityExceeded),
    ],
)
def test_a_conflict_is_answered_by_the_cause(
    item: Item, entry: dict[str, Any], error: type[ServiceError]
) -> None:
    with pytest.raises(error) as raised:
        resolve(item, create(index=2, **entry))
    assert raised.value.index == 2


def test_what_just_fits_is_taken() -> None:
    item = task_item(free_entries=2, free_bytes=6)
    known = resolve(item, create("a", size=3), create("b", size=3))
    assert known == TaskAssumptions(unjoined=frozenset({"t"}))


def test_participants_keep_their_episodes_of_a_task_and_others_do_not() -> None:
    episode = Transition(None, make_entry(task="t"))
    participant = task_item(assignee="bob", participants=frozenset({"ada"}))
    assert resolve(participant, episode) == TaskAssumptions(unjoined=frozenset({"t"}))
    for item, transition in ((task_item(assignee="bob"), episode), (participant, create())):
        with pytest.raises(AccessDenied):
            resolve(item, transition)


def test_an_intent_of_somebody_else_is_refused() -> None:
    transitions = (create("a"), create("b", 1, intent="i"))
    assert_intent_is_free(ADA, transitions, TASK)
    with pytest.raises(AccessDenied) as error:
        assert_intent_is_free(ADA, transitions, INTENT)
    assert error.value.index == 1

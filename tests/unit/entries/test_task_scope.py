"""Test the conditions of an entry's task scope on tasks and intents, and their errors."""

from typing import Any

import pytest

from functions.entries.conflicts import resolve_intent_conflict, resolve_task_conflict
from functions.entries.model import Transition
from functions.entries.task_scope import (
    NOTHING_KNOWN,
    TaskAssumptions,
    build_task_writes,
    find_scopes,
    set_flags,
)
from functions.entries.transaction_store import Transaction
from functions.platform import item_types
from functions.platform.errors import (
    AccessDenied,
    CapacityExceeded,
    ServiceError,
    TaskClosed,
    TaskReassigned,
    ValidationFailed,
)
from functions.platform.items import Item
from functions.platform.keys import hash_agent
from functions.platform.limits import DEFAULT_TASK_KB
from functions.tasks.model import Grant, GrantAccess, Membership, Policy, Task
from functions.tasks.store import task_to_item
from tests.unit.entries.making import NOW, make_entry, make_principal

ADA = make_principal()
NO_MEMBER = Membership()
TASK = item_types.TASK.build_key("acme", task="t")
INTENT = item_types.INTENT.build_key("acme", intent="i")


def create(key: str = "k", index: int = 0, **fields: Any) -> Transition:
    fields = {"task_id": "t"} | fields
    return Transition(None, make_entry("working", key, **fields), index)


def task_item(**fields: Any) -> Item:
    """The item of an open task of ada's with room for everything."""
    given: dict[str, Any] = {
        "assigned_agent": "ada",
        "coordinator": "boss",
        "free_entries": 100,
        "free_bytes": 1024,
        "intent_id": None,
    }
    given |= fields
    task = Task(
        "t",
        status="running",
        version=1,
        created_at=0,
        updated_at=0,
        memory_policy=Policy(),
        **given,
    )
    return {name: value for name, value in task_to_item(task).items() if value is not None}


def written(
    *transitions: Transition, known: TaskAssumptions = NOTHING_KNOWN
) -> list[tuple[str, Any]]:
    """The verbs and keys that transitions write and check."""
    writes = build_task_writes(ADA, transitions, NOW, known)
    return [(write.verb, write.key) for write in writes]


def resolve(
    item: Item | None,
    *transitions: Transition,
    known: TaskAssumptions = NOTHING_KNOWN,
    member: Membership = NO_MEMBER,
) -> TaskAssumptions:
    transaction = Transaction(ADA, transitions or (create(),), NOW, tasks=known)
    return resolve_task_conflict(transaction, TASK, item, lambda _: member)


def test_the_first_entry_of_an_agent_joins_the_task() -> None:
    known = TaskAssumptions(unjoined=frozenset({"t"}))
    joins = ("Put", item_types.HELD_TASK.build_key("acme", agent=hash_agent("ada"), task="t"))
    assert written(create(), known=known) == [("Update", TASK), joins]


def test_an_episode_that_outlives_its_task_only_checks_the_role() -> None:
    episode = Transition(None, make_entry(task_id="t"))
    assert written(episode) == [("ConditionCheck", TASK)]


def test_the_scope_that_says_most_counts() -> None:
    without, with_intent = create("a"), create("b", intent_id="i")
    assert find_scopes((without, with_intent)) == {"t": with_intent}
    with pytest.raises(ValidationFailed):
        find_scopes((with_intent, create("c", intent_id="j")))


def test_a_task_that_is_registered_by_a_write_has_the_default_limits() -> None:
    known = TaskAssumptions(unregistered=frozenset({"t"}))
    with pytest.raises(CapacityExceeded) as error:
        written(create(value_bytes=1024 * DEFAULT_TASK_KB + 1, index=4), known=known)
    assert (error.value.members["limit"], error.value.index) == ("max_total_size_kb", 4)


def test_what_a_conflict_says_is_known_in_the_next_attempt() -> None:
    assert resolve(None) == TaskAssumptions(unregistered=frozenset({"t"}))
    assert resolve(task_item()) == TaskAssumptions(unjoined=frozenset({"t"}))
    known = TaskAssumptions(unregistered=frozenset({"t"}))
    assert resolve(task_item(), known=known) == NOTHING_KNOWN
    own = TaskAssumptions(uncoordinated=frozenset({"t"}))
    assert resolve(task_item(coordinator=None)) == own
    assert resolve(task_item(), known=own) == NOTHING_KNOWN


def test_a_new_entry_of_a_task_without_coordinator_counts_against_its_agent() -> None:
    tasks = frozenset({"t"})
    for known in (TaskAssumptions(unregistered=tasks), TaskAssumptions(uncoordinated=tasks)):
        own = set_flags(create(), known)
        assert own.current.is_in_own_task
        assert not set_flags(own, NOTHING_KNOWN).current.is_in_own_task


def test_conflicts_of_other_items_say_nothing() -> None:
    for key in (INTENT, item_types.TASK.build_key("acme", task="u")):
        transaction = Transaction(ADA, (create(),), NOW)
        known = resolve_task_conflict(transaction, key, None, lambda _: NO_MEMBER)
        assert known == NOTHING_KNOWN


@pytest.mark.parametrize(
    ("item", "entry", "error"),
    [
        (task_item(assigned_agent="bob"), {}, AccessDenied),
        (task_item(completed_at=NOW), {}, TaskClosed),
        (task_item(intent_id="j"), {"intent_id": "i"}, ValidationFailed),
        (task_item(free_entries=0), {}, CapacityExceeded),
        (task_item(free_bytes=1), {"value_bytes": 2}, CapacityExceeded),
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
    known = resolve(item, create("a", value_bytes=3), create("b", value_bytes=3))
    assert known == TaskAssumptions(unjoined=frozenset({"t"}))


def test_who_took_part_keeps_its_episodes_of_a_task_and_others_do_not() -> None:
    episode = Transition(None, make_entry(task_id="t"))
    item, former = task_item(assigned_agent="bob"), Membership(was_assignee=True)
    assert resolve(item, episode, member=former) == TaskAssumptions(joined=frozenset({"t"}))
    for transition, member, error in (
        (episode, NO_MEMBER, AccessDenied),
        (create(), NO_MEMBER, AccessDenied),
        (create(), former, TaskReassigned),
    ):
        with pytest.raises(error):
            resolve(item, transition, member=member)


def grant(access: GrantAccess = "write", expires: int = NOW + 1, term: int | None = None) -> Grant:
    return Grant("ada", access, expires, "boss", 0, term)


@pytest.mark.parametrize("given", [grant(), grant(term=1)])
def test_a_grant_is_checked_beside_the_task(given: Grant) -> None:
    known = resolve(task_item(assigned_agent="bob"), member=Membership(grant=given))
    assert known == TaskAssumptions(grants={"t": given})
    key = item_types.GRANT.build_key("acme", task="t", principal="ada")
    assert written(create(), known=known) == [("Update", TASK), ("ConditionCheck", key)]
    transaction = Transaction(ADA, (create(),), NOW, tasks=known)
    again = resolve_task_conflict(transaction, key, None, lambda _: NO_MEMBER)
    assert again == NOTHING_KNOWN


@pytest.mark.parametrize("given", [grant("read"), grant(expires=NOW), grant(term=2)])
def test_a_grant_that_does_not_count_lets_nobody_write(given: Grant) -> None:
    for member, error in (
        (Membership(grant=given), AccessDenied),
        (Membership(grant=given, was_assignee=True), TaskReassigned),
    ):
        with pytest.raises(error):
            resolve(task_item(assigned_agent="bob"), member=member)


WRITTEN = make_entry("working", task_id="t")
CHANGES = {
    "same size": Transition(WRITTEN, WRITTEN._replace(version=2)),
    "larger": Transition(WRITTEN, WRITTEN._replace(version=2, value_bytes=2000)),
    "deleted": Transition(WRITTEN, None),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_former_assignee_changes_its_entries_no_more(change: Transition) -> None:
    verb = "ConditionCheck" if change is CHANGES["same size"] else "Update"
    assert written(change) == [(verb, TASK)]
    with pytest.raises(TaskReassigned):
        resolve(task_item(assigned_agent="bob"), change, member=Membership(was_assignee=True))
    with pytest.raises(TaskClosed):
        resolve(
            task_item(assigned_agent="bob", completed_at=NOW),
            change,
            member=Membership(was_assignee=True),
        )


def test_the_service_removes_entries_whoever_has_the_task() -> None:
    for reason in ("expired", "archived"):
        removal = Transition(WRITTEN, None, reason=reason)
        (write,) = build_task_writes(ADA, (removal,), NOW, NOTHING_KNOWN)
        assert write.condition == "attribute_exists(pk)"


def test_what_is_written_by_a_grant_is_fenced_and_nothing_else() -> None:
    by_grant = TaskAssumptions(grants={"t": grant()})
    new = set_flags(create(), by_grant).new
    assert new is not None
    assert new.is_fenced
    fenced = Transition(new, new._replace(version=2))
    assert set_flags(fenced, by_grant) is fenced
    unfenced = set_flags(fenced, NOTHING_KNOWN).new
    assert unfenced is not None
    assert not unfenced.is_fenced
    episode = Transition(None, make_entry(task_id="t"))
    assert set_flags(episode, by_grant) is episode


def test_an_intent_of_somebody_else_is_for_who_takes_part_in_it() -> None:
    transitions = (create("a"), create("b", 1, intent_id="i"))
    first = Transaction(ADA, transitions, NOW)
    assert resolve_intent_conflict(first, TASK, None) == NOTHING_KNOWN
    new = TaskAssumptions(unnamed=frozenset({"i"}))
    assert resolve_intent_conflict(first, INTENT, None) == new
    second = Transaction(ADA, transitions, NOW, tasks=new)
    assert resolve_intent_conflict(second, INTENT, {}) == NOTHING_KNOWN
    known = resolve_intent_conflict(first, INTENT, {})
    assert known == TaskAssumptions(intents=frozenset({"i"}))
    participant = item_types.PARTICIPANT.build_key("acme", intent="i", principal="ada")
    loose = create("b", 1, task_id=None, intent_id="i")
    assert written(loose, known=known) == [("ConditionCheck", participant)]
    with pytest.raises(AccessDenied) as error:
        resolve_intent_conflict(first, participant, None)
    assert error.value.index == 1

"""Test the effects of guardrails on a task and on an agent."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.namespaces.store import Restrictions, correct_bindings
from functions.platform import item_types
from functions.platform.items import Item
from functions.platform.keys import hash_agent
from functions.tasks.guardrail_store import guardrails_from_item, guardrails_to_item
from functions.tasks.guardrails import restrict_task
from functions.tasks.lifecycle_store import bind_assignees
from functions.tasks.model import CoordinatorGuardrails, Policy, Task


def task(max_entries: int, used: int) -> Task:
    policy = Policy(max_entries=max_entries)
    return Task(
        "t", "i", "running", 1, 1, 1, policy, free_entries=max_entries - used, held={"a": used}
    )


KEY = ("tenant#a#agent", "a")
LIMITS = st.none() | st.integers(0, 50)


@given(st.integers(0, 50), st.integers(0, 20), st.lists(LIMITS, min_size=1, max_size=4))
def test_the_free_entries_follow_from_the_last_guardrail_alone(
    max_entries: int, used: int, limits: list[int | None]
) -> None:
    restricted = task(max_entries, used)
    for limit in limits:
        restricted = restrict_task(restricted, {"max_working_memory_per_task": limit})
    last = limits[-1]
    most = max_entries if last is None else min(max_entries, last)
    assert (restricted.max_entries, restricted.free_entries) == (most, most - used)


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("required", [True, False, None])
def test_guardrails_may_require_the_archive_and_never_forbid_it(
    wanted: bool, required: bool | None
) -> None:
    plain = Task("t", "i", "running", 1, 1, 1, Policy(archive_on_completion=wanted))
    restricted = restrict_task(plain, {"memory_archive_required": required})
    is_archived = restricted.memory_policy.archive_on_completion or restricted.archive_required
    assert is_archived is (wanted or required is True)


def item_of(**limits: object) -> Item:
    given = {name: each for name, each in limits.items() if each is not None}
    return guardrails_to_item(CoordinatorGuardrails("boss", given))


def restrictions_of(**limits: object) -> Restrictions:
    return Restrictions.of([item_of(**limits)])


def test_guardrails_without_limits_restrict_nothing() -> None:
    assert restrictions_of() == Restrictions() == Restrictions.of([None])
    assert not restrictions_of().denies("any")


def test_what_isnt_allowed_or_is_denied_is_denied() -> None:
    allowed = restrictions_of(
        allowed_semantic_namespaces=["a", "b"], denied_semantic_namespaces=["b"]
    )
    assert [name for name in "abc" if not allowed.denies(name)] == ["a"]
    assert restrictions_of(allowed_semantic_namespaces=[]).denies("a")


def test_a_name_that_ends_with_a_star_is_a_prefix() -> None:
    denied = restrictions_of(denied_semantic_namespaces=["a.*", "ü"])
    names = ("a", "a.", "a.b", "a.*", "ab", "ü", "üb")
    assert [name for name in names if denied.denies(name)] == ["a.", "a.b", "a.*", "ü"]
    allowed = restrictions_of(allowed_semantic_namespaces=["a*"])
    assert [name for name in names if not allowed.denies(name)] == ["a", "a.", "a.b", "a.*", "ab"]
    assert restrictions_of(denied_semantic_namespaces=["*"]).denies("any")


NAMES = st.sets(st.sampled_from(["a", "b", "c", "d", "a*", "*"]))
ITEMS = st.builds(
    lambda allowed, denied, limit: item_of(
        allowed_semantic_namespaces=None if allowed is None else sorted(allowed),
        denied_semantic_namespaces=sorted(denied),
        max_episodic_memory_per_agent=limit,
    ),
    st.none() | NAMES,
    NAMES,
    LIMITS,
)


@given(st.lists(ITEMS, max_size=4))
def test_together_the_strictest_of_each_holds(every: list[Item]) -> None:
    merged, alone = Restrictions.of(every), [Restrictions.of([each]) for each in every]
    for name in ("a", "b", "c", "d", "e", "ab"):
        assert merged.denies(name) is any(each.denies(name) for each in alone)
    limits = [each.max_episodic for each in alone if each.max_episodic is not None]
    assert merged.max_episodic == (min(limits) if limits else None)


BOUND = st.lists(st.sampled_from(["boss", "lead", "ada"]), max_size=5)


@given(BOUND, BOUND, st.booleans())
def test_wrong_bindings_are_corrected(
    stored: list[str], bound: list[str], binds_itself: bool
) -> None:
    item: Item = {"binds_itself": True} if binds_itself else {}
    first = correct_bindings(KEY, item, stored)
    item |= {} if first is None else first.values
    corrected = correct_bindings(KEY, item, bound)
    if corrected is None:
        assert sorted(stored) == sorted(bound)
        return
    assert corrected.values["bindings"] == len(bound) + binds_itself
    gone = {f"b_{hash_agent(each)}" for each in set(stored) - set(bound)}
    assert all(name in str(corrected.expression).partition("REMOVE")[2] for name in gone)


@given(LIMITS, LIMITS, st.none() | st.lists(st.text(min_size=1)), st.none() | st.booleans())
def test_guardrails_are_stored_whole(
    working: int | None, episodic: int | None, names: list[str] | None, required: bool | None
) -> None:
    asked = {
        "max_working_memory_per_task": working,
        "max_episodic_memory_per_agent": episodic,
        "allowed_semantic_namespaces": names,
        "denied_semantic_namespaces": names,
        "memory_archive_required": required,
        "allowed_agents": names,
    }
    given = {name: each for name, each in asked.items() if each is not None}
    guardrails = CoordinatorGuardrails("boss", given, 3, 1_000)
    assert guardrails_from_item("boss", guardrails_to_item(guardrails)) == guardrails
    assert guardrails_from_item("boss", None) == CoordinatorGuardrails("boss")


OPEN = Task("t", "i", "running", 1, 1, 1, Policy(), assigned_agent="alice", coordinator="boss")
PASSED_ON = replace(OPEN, coordinator="lead", guarded_by=("boss",))


@pytest.mark.parametrize(
    ("old", "new", "counted"),
    [
        (None, OPEN, {"alice": {"boss": 1}}),
        (None, replace(OPEN, coordinator=None), {}),
        (OPEN, replace(OPEN, status="running", version=2), {}),
        (OPEN, replace(OPEN, assigned_agent="bob"), {"alice": {"boss": -1}, "bob": {"boss": 1}}),
        (OPEN, PASSED_ON, {"alice": {"lead": 1}}),
        (PASSED_ON, replace(PASSED_ON, completed_at=2), {"alice": {"lead": -1, "boss": -1}}),
        (replace(OPEN, coordinator=None), OPEN, {"alice": {"boss": 1}}),
    ],
)
def test_an_agent_counts_who_binds_it(
    old: Task | None, new: Task, counted: dict[str, dict[str, int]]
) -> None:
    writes = {write.key: write.values for write in bind_assignees("acme", old, new)}
    assert writes == {
        item_types.AGENT.build_key("acme", agent=agent): {
            "total": sum(more.values()),
            **{f"b_{hash_agent(name)}": count for name, count in more.items()},
        }
        for agent, more in counted.items()
    }

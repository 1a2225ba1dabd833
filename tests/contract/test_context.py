"""RFC-0015 §6.3: what to pack into a context window for a task."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    TASKS,
    allow,
    create,
    create_task,
    entry,
    grant,
    semantic,
    sized,
    working,
)
from tests.contract.expect import invalid, ok
from tests.contract.service import Tenant, names
from tests.contract.test_guardrails import guard
from tests.contract.transport import MovableClock

SECTIONS = ("working", "inherited", "episodic", "semantic")


def context(client: httpx.Client, task_id: str, **parameters: Any) -> dict[str, Any]:
    path = f"{TASKS}/{task_id}/context"
    found: dict[str, Any] = ok(client.get(path, params=parameters))
    return found


def shown(packed: dict[str, Any]) -> dict[str, list[str]]:
    """The keys in each section that holds any."""
    return {name: names(packed[name]) for name in SECTIONS if packed[name]}


def test_a_context_holds_all_three_tiers(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, clock: MovableClock
) -> None:
    allow(tenant.admin, "facts", "read", admin="write")
    create_task(boss, id="parent", assigned_agent=tenant.admin_id)
    create_task(
        boss,
        id="t",
        assigned_agent="alice",
        parent_task_id="parent",
        memory_policy={"inherit_from_parent": True},
        semantic_namespaces=["facts", "nothing"],
    )
    made = [
        create(alice, working("t", key="w")),
        create(tenant.admin, working("parent", key="p")),
        create(alice, entry(key="e")),
        create(tenant.admin, semantic(key="s")),
    ]
    create(alice, working(key="loose"))
    create(tenant.admin, semantic(namespace="elsewhere", key="z"))
    packed = context(alice, "t")
    assert [packed[name] for name in SECTIONS] == [[each] for each in made]
    assert (packed["size_kb"], packed["truncated"]) == (2, False)
    clock.advance(seconds=1)
    assert context(alice, "t") == packed


def test_a_task_that_does_not_inherit_shows_nothing_of_its_parent(
    boss: httpx.Client, alice: httpx.Client
) -> None:
    create_task(boss, id="parent", assigned_agent="alice")
    create_task(boss, id="t", assigned_agent="alice", parent_task_id="parent")
    create(alice, working("parent", key="p"))
    assert shown(context(alice, "t")) == {}


def test_episodes_are_the_newest_that_have_the_tags(
    boss: httpx.Client, alice: httpx.Client, clock: MovableClock
) -> None:
    create_task(boss, id="t", assigned_agent="alice")
    for number in range(12):
        clock.advance(seconds=1)
        create(alice, entry(key=f"e{number}", tags=["even"] if number % 2 == 0 else ["odd", "x"]))
    assert names(context(alice, "t")["episodic"]) == [f"e{n}" for n in range(11, 1, -1)]
    assert names(context(alice, "t", episodic_limit=2)["episodic"]) == ["e11", "e10"]
    assert names(context(alice, "t", tags="even", episodic_limit=2)["episodic"]) == ["e10", "e8"]
    assert context(alice, "t", tags="even,x")["episodic"] == []
    assert context(alice, "t", episodic_limit=0)["episodic"] == []


def test_the_coordinator_sees_the_assignees_episodes_and_a_holder_of_a_grant_its_own(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    bob = tenant.agent("bob")
    create_task(boss, id="t", assigned_agent="alice")
    ok(grant(boss, "t", "bob", access="read"))
    create(alice, working("t", key="w"))
    create(alice, entry(key="alices"))
    create(bob, entry(key="bobs"))
    assert shown(context(boss, "t")) == {"working": ["w"], "episodic": ["alices"]}
    assert shown(context(bob, "t")) == {"working": ["w"], "episodic": ["bobs"]}


def test_namespaces_are_the_tasks_else_the_guardrails(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    for name in ("a", "b", "closed"):
        create(tenant.admin, semantic(namespace=name, key=name))
    allow(tenant.admin, "closed", "none")
    guard(tenant, allowed_semantic_namespaces=["b", "closed"])
    create_task(boss, id="own", assigned_agent="alice", semantic_namespaces=["a", "b"])
    create_task(boss, id="guarded", assigned_agent="alice")
    create_task(boss, id="none", assigned_agent="alice", semantic_namespaces=[])
    found = [shown(context(alice, id)) for id in ("own", "guarded", "none")]
    assert found == [{"semantic": ["b"]}, {"semantic": ["b"]}, {}]
    assert shown(context(boss, "own")) == {"semantic": ["b"]}


def test_a_context_is_cut_in_the_order_of_importance(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    create_task(boss, id="t", assigned_agent="alice", semantic_namespaces=["facts"])
    create(tenant.admin, semantic(key="s"))
    create(alice, entry(key="e", value=sized(30_000)))
    create(alice, working("t", key="w", value=sized(60_000)))
    whole = context(alice, "t")
    assert (len(shown(whole)), whole["truncated"]) == (3, False)
    for most, left in ((92, 3), (88, 1), (58, 0), (1, 0)):
        packed = context(alice, "t", max_kb=most)
        assert (len(shown(packed)), packed["truncated"]) == (left, left < 3)
        assert packed["size_kb"] <= most


@pytest.mark.in_process
@pytest.mark.usefixtures("volume")
def test_many_semantic_entries_fill_a_context_to_its_bound(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    create_task(boss, id="t", assigned_agent="alice", semantic_namespaces=["facts"])
    for number in range(120):
        create(tenant.admin, semantic(key=f"s{number}", value=sized(1024)))
    packed = context(alice, "t")
    assert (len(packed["semantic"]), packed["truncated"]) == (120, False)
    packed = context(alice, "t", max_kb=20)
    assert packed["truncated"]
    assert 10 < packed["size_kb"] <= 20


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("episodic_limit", "-1"),
        ("episodic_limit", "1001"),
        ("max_kb", "0"),
        ("max_kb", "4097"),
        ("tags", ""),
        ("more", "1"),
    ],
)
def test_malformed_parameters_are_refused(alice: httpx.Client, name: str, value: str) -> None:
    create(alice, working("t"))
    invalid(alice.get(f"{TASKS}/t/context", params={name: value}), name)


def test_a_context_without_values_has_the_entries_that_the_task_would_get(
    boss: httpx.Client, alice: httpx.Client
) -> None:
    create_task(boss, id="t", assigned_agent="alice")
    for key in "ab":
        create(alice, entry(key=key, value={"text": "x" * 700}))
    path, query = "/api/v1/tasks/t/context", {"max_kb": "2", "touch": "false"}
    whole = ok(alice.get(path, params=query))
    bare = ok(alice.get(path, params=query | {"values": "omit"}))
    assert [each["key"] for each in whole["episodic"]] == ["b"]
    (shown,) = bare["episodic"]
    assert "value" not in shown
    assert bare == whole | {"episodic": [shown]}

"""RFC-0015 §6.6: guardrails deny namespaces to the assignees of a coordinator's tasks."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from functions.platform import item_types
from functions.platform.keys import hash_agent
from tests.contract.bodies import (
    MEMORY,
    NAMESPACES,
    TASKS,
    allow,
    change_task,
    create,
    create_task,
    entry,
    query,
    read,
    semantic,
    task,
    update,
)
from tests.contract.expect import ok, only_list, refused
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep
from tests.contract.test_concurrency import at_once
from tests.contract.test_guardrails import capacity, guard, path
from tests.contract.test_schedule_agents import set_on


@pytest.fixture
def facts(tenant: Tenant) -> dict[str, dict[str, Any]]:
    """An entry in each of three namespaces that all may write."""
    for name in ("policies", "domain", "secrets"):
        allow(tenant.admin, name, "write")
    return {
        name: create(tenant.admin, semantic(namespace=name, tags=["t"]))
        for name in ("policies", "domain", "secrets")
    }


def reaches(client: httpx.Client, facts: dict[str, dict[str, Any]]) -> set[str]:
    """The namespaces that the client reaches; every way to reach one must agree."""
    by_id = {name for name in facts if read(client, facts[name]["id"]).status_code == 200}
    by_write = {
        name
        for name in facts
        if client.post(MEMORY, json=semantic(namespace=name)).status_code == 409
    }
    ways = [{each["namespace"] for each in query(client, memory_type="semantic")}]
    ways.append({each["namespace"] for each in query(client, tags="t")})
    ways.append({each["namespace"] for name in facts for each in query(client, namespace=name)})
    ways.append(
        {each["namespace"] for name in facts for each in query(client, namespace=name, key="k")}
    )
    ways.append({each["namespace"] for each in only_list(ok(client.get(NAMESPACES)))})
    ways.append({n for n in facts if client.get(f"{NAMESPACES}/{n}").status_code == 200})
    me = client.get("/api/v1/agents/alice/memory/summary").json()
    ways.append(set(me["semantic_namespaces_accessible"]))
    assert all(way == by_id for way in [*ways, by_write]), ways
    return by_id


@pytest.mark.parametrize(
    ("guardrails", "left", "when"),
    [
        ({"denied_semantic_namespaces": ["secrets"]}, {"policies", "domain"}, "before"),
        ({"allowed_semantic_namespaces": ["policies"]}, {"policies"}, "after"),
    ],
)
def test_denied_namespaces_are_closed_to_assignees(
    tenant: Tenant,
    boss: httpx.Client,
    alice: httpx.Client,
    facts: dict[str, dict[str, Any]],
    guardrails: dict[str, Any],
    left: set[str],
    when: str,
) -> None:
    assert reaches(alice, facts) == facts.keys()
    steps: list[Callable[[], Any]] = [
        lambda: guard(tenant, **guardrails),
        lambda: create_task(boss, id="t", assigned_agent="alice"),
    ]
    for step in steps if when == "before" else reversed(steps):
        step()
    assert reaches(alice, facts) == left
    assert set(facts) == {each["namespace"] for each in query(tenant.agent("bob"))}


def test_an_entry_of_a_denied_namespace_is_not_changed_or_deleted(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, facts: dict[str, dict[str, Any]]
) -> None:
    guard(tenant, denied_semantic_namespaces=["secrets"])
    create_task(boss, assigned_agent="alice")
    id = facts["secrets"]["id"]
    for answer in (update(alice, id, 1, tags=[]), alice.delete(f"{MEMORY}/{id}")):
        assert "current" not in refused(answer, 403, "ACCESS_DENIED")
    assert "current" not in refused(
        alice.post(MEMORY, json=semantic(namespace="secrets")), 403, "ACCESS_DENIED"
    )
    assert ok(read(tenant.admin, id)) == facts["secrets"]


@pytest.mark.in_process
def test_the_guardrails_of_each_open_tasks_coordinator_count(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, facts: dict[str, dict[str, Any]]
) -> None:
    other = tenant.coordinator("other")
    guard(tenant, "boss", allowed_semantic_namespaces=["policies", "secrets"])
    guard(tenant, "other", allowed_semantic_namespaces=["policies", "domain"])
    first = create_task(boss, assigned_agent="alice")
    assert reaches(alice, facts) == {"policies", "secrets"}
    second = create_task(other, intent_id="intent_2", assigned_agent="alice")
    assert reaches(alice, facts) == {"policies"}
    ok(change_task(boss, first, status="completed"))
    assert reaches(alice, facts) == {"policies", "domain"}
    ok(change_task(other, second, status="cancelled"))
    assert reaches(alice, facts) == facts.keys()


def test_restrictions_follow_a_reassignment(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, facts: dict[str, dict[str, Any]]
) -> None:
    bob = tenant.agent("bob")
    guard(tenant, denied_semantic_namespaces=["secrets"], max_episodic_memory_per_agent=7)
    made = create_task(boss, assigned_agent="alice")
    ok(change_task(boss, made, assigned_agent="bob"))
    assert reaches(alice, facts) == facts.keys()
    refused(read(bob, facts["secrets"]["id"]), 403, "ACCESS_DENIED")
    assert (capacity(tenant.admin, "alice"), capacity(tenant.admin, "bob")) == (1000, 7)


def test_a_removed_guardrail_restricts_no_more(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, facts: dict[str, dict[str, Any]]
) -> None:
    guard(tenant, denied_semantic_namespaces=["secrets"])
    create_task(boss, assigned_agent="alice")
    guard(tenant, denied_semantic_namespaces=["domain"])
    assert reaches(alice, facts) == {"policies", "secrets"}
    guard(tenant, denied_semantic_namespaces=None)
    assert reaches(alice, facts) == facts.keys()


@pytest.mark.usefixtures("parallel")
def test_a_changed_guardrail_misses_no_task_that_is_registered_meanwhile(
    tenant: Tenant, boss: httpx.Client, facts: dict[str, dict[str, Any]]
) -> None:
    agents = tenant.agents(*(f"agent_{number}" for number in range(8)))
    denied = {"guardrails": {"denied_semantic_namespaces": ["secrets"]}}

    def call(number: int) -> httpx.Response:
        if number == len(agents):
            return tenant.admin.patch(path(), json=denied)
        return boss.post(TASKS, json=task(assigned_agent=f"agent_{number}"))

    assert {each.status_code for each in at_once(9, call)} == {200, 201}
    for agent in agents:
        refused(read(agent, facts["secrets"]["id"]), 403, "ACCESS_DENIED")


@pytest.mark.usefixtures("parallel")
def test_restrictions_are_right_after_many_changes_at_once(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, facts: dict[str, dict[str, Any]]
) -> None:
    guard(tenant, denied_semantic_namespaces=["secrets"], max_episodic_memory_per_agent=9)
    made = [create_task(boss, id=f"t{number}", assigned_agent="alice") for number in range(6)]
    ended = at_once(6, lambda number: change_task(boss, made[number], status="completed"))
    assert {each.status_code for each in ended} == {200}
    assert reaches(alice, facts) == facts.keys()
    assert capacity(alice, "alice") == 1000


@pytest.mark.in_process
def test_the_schedule_corrects_who_binds_an_agent(
    tenant: Tenant,
    service: Service,
    boss: httpx.Client,
    alice: httpx.Client,
    facts: dict[str, dict[str, Any]],
) -> None:
    guard(tenant, denied_semantic_namespaces=["secrets"])
    guard(tenant, "former", denied_semantic_namespaces=["domain"])
    made = create_task(boss, assigned_agent="alice")
    create(alice, entry())
    key = item_types.AGENT.build_key(tenant.id, agent="alice")
    former, present = (f"b_{hash_agent(name)}" for name in ("former", "boss"))
    set_on(service, key, **{"bindings": 2, former: 2, present: 0})
    service.clock.advance(seconds=86_400)
    sweep(service)
    assert reaches(alice, facts) == {"policies", "domain"}
    ok(change_task(boss, made, status="completed"))
    assert reaches(alice, facts) == facts.keys()

"""Test who may read and write what, and by which rule."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import allow, change_task, create, create_task, entry, grant, semantic
from tests.contract.bodies import working as working_entry
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Service, Tenant

PATH = "/api/v1/access"
NO = (False, "no rule permits it")


def explain(asker: httpx.Client, **query: str) -> tuple[tuple[bool, str], tuple[bool, str]]:
    """Return whether a principal may read and write, and the rules, as the asker sees them."""
    found = ok(asker.get(PATH, params=query))
    ((kind, id),) = [(name, each) for name, each in query.items() if name != "principal"]
    assert found["target"] == f"{kind}:{id}"
    assert found["principal"] == query.get("principal", found["principal"])
    read, write = found["read"], found["write"]
    return (read["allowed"], read["rule"]), (write["allowed"], write["rule"])


def test_a_task_and_its_working_memory(
    tenant: Tenant, ada: httpx.Client, boss: httpx.Client
) -> None:
    bob, eve = tenant.agents("bob", "eve")
    task = create_task(boss, id="t", assigned_agent="ada")
    ok(grant(boss, "t", "bob", access="read"))
    of_ada = create(ada, working_entry("t", scope={"task_id": "t"}))["id"]

    is_assignee, is_coordinator = (True, "assignee of the task"), (True, "coordinator of the task")
    holds = (True, "holder of a grant on the task")
    assert explain(ada, task="t") == (is_assignee, is_assignee)
    assert explain(ada, entry=of_ada) == ((True, "owner of the memory"),) * 2
    assert explain(boss, principal="boss", entry=of_ada) == (is_coordinator, NO)
    for asker in (ada, boss, tenant.admin):
        assert explain(asker, principal="bob", task="t") == (holds, NO)
        assert explain(asker, principal="bob", entry=of_ada) == (holds, NO)
        assert explain(asker, principal="eve", entry=of_ada) == (NO, NO)
        assert explain(asker, principal="admin", task="t") == (NO, NO)
    assert explain(eve, task="t") == (NO, NO)
    refused(eve.get(PATH, params={"task": "t", "principal": "bob"}), 403, "ACCESS_DENIED")
    refused(bob.get(PATH, params={"entry": of_ada, "principal": "ada"}), 403, "ACCESS_DENIED")

    ok(change_task(boss, task, assigned_agent="eve"))
    assert explain(ada, entry=of_ada) == ((True, "owner of the memory"), NO)
    assert explain(eve, entry=of_ada) == (is_assignee, NO)


def test_an_ended_task_takes_no_writes(ada: httpx.Client, boss: httpx.Client) -> None:
    task = create_task(boss, id="t", assigned_agent="ada")
    ok(change_task(boss, task, status="completed"))
    assert explain(ada, task="t")[1] == (False, "the task has ended")


def test_episodic_memory(tenant: Tenant, ada: httpx.Client, boss: httpx.Client) -> None:
    of_ada = create(ada, entry())["id"]
    assert explain(boss, entry=of_ada) == (NO, NO)
    refused(boss.get(PATH, params={"entry": of_ada, "principal": "ada"}), 403, "ACCESS_DENIED")
    create_task(boss, id="t", assigned_agent="ada")
    assert explain(boss, entry=of_ada) == ((True, "coordinator of the agent's task"), NO)
    assert explain(boss, principal="ada", entry=of_ada)[1] == (True, "owner of the memory")
    assert explain(tenant.admin, entry=of_ada) == (NO, NO)


def test_semantic_memory_and_guardrails(
    tenant: Tenant, ada: httpx.Client, boss: httpx.Client
) -> None:
    allow(tenant.admin, "billing", "read", ada="write")
    shared = create(tenant.user("kim"), semantic(namespace="notes"))["id"]
    reads = (True, "read access to the namespace")
    assert explain(ada, namespace="billing") == (reads, (True, "write access to the namespace"))
    assert explain(ada, entry=shared) == (reads, NO)
    assert explain(tenant.admin, principal="boss", namespace="billing") == (reads, NO)
    refused(
        ada.get(PATH, params={"namespace": "billing", "principal": "boss"}), 403, "ACCESS_DENIED"
    )

    create_task(boss, id="t", assigned_agent="ada")
    rules = {"guardrails": {"denied_semantic_namespaces": ["billing"]}}
    ok(tenant.admin.patch("/api/v1/coordinators/boss/guardrails", json=rules))
    barred = (False, "barred by a coordinator's guardrails")
    assert explain(ada, namespace="billing") == (barred, barred)


def test_conversations(tenant: Tenant, ada: httpx.Client) -> None:
    new = {"user_id": "kim", "agent_participants": ["ada"], "messages": []}
    ok(ada.put("/api/v1/conversations/s", json=new | {"shared_with": ["bob"]}), 201)
    shared = (True, "the conversation is shared with them")
    tenant.agents("bob", "eve")
    for asker in (ada, tenant.user("kim"), tenant.admin):
        assert explain(asker, principal="bob", conversation="s") == (shared, NO)
        assert explain(asker, principal="eve", conversation="s") == (NO, NO)
    assert explain(ada, conversation="s") == ((True, "participant of the conversation"),) * 2


def test_permissions_count(tenant: Tenant) -> None:
    tenant.agent("blind", permissions=["memory.write"])
    read, write = explain(tenant.admin, principal="blind", namespace="notes")
    assert read == (False, "lacks memory.read")
    assert write == NO


def test_unknown_and_foreign_targets_and_principals(
    service: Service, tenant: Tenant, ada: httpx.Client, boss: httpx.Client
) -> None:
    create_task(boss, id="t", assigned_agent="ada")
    of_ada = create(ada, entry())["id"]
    stranger = service.tenant().admin
    foreign: list[dict[str, Any]] = [{"task": "t"}, {"entry": of_ada}, {"conversation": "s"}]
    for query in foreign:
        code = "ENTRY_NOT_FOUND" if "entry" in query else "NOT_FOUND"
        refused(stranger.get(PATH, params=query), 404, code)
    refused(tenant.admin.get(PATH, params={"task": "t", "principal": "x"}), 404, "NOT_FOUND")


@pytest.mark.parametrize("query", [{}, {"task": "t", "namespace": "n"}])
def test_exactly_one_target_is_named(ada: httpx.Client, query: dict[str, str]) -> None:
    invalid(ada.get(PATH, params=query), "entry")

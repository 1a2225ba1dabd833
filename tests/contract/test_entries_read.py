"""RFC-0015 §4.2: reading by id, the bare list, and the summary."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    create,
    create_task,
    entry,
    query,
    read,
    semantic,
    sized,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

TIERS = [working(), entry(), semantic()]


@pytest.mark.parametrize(
    "entry_id", ["mem_", "mem_x", "x", "task_1", "mem_" + "a" * 43, "mem_" + "0" * 2000, "%00", "é"]
)
def test_an_id_that_nothing_has_is_not_found(tenant: Tenant, entry_id: str) -> None:
    path = f"{MEMORY}/{entry_id}"
    for answer in (
        tenant.admin.get(path),
        tenant.admin.delete(path),
        tenant.admin.patch(path, json={"value": {}}, headers={"If-Match": "1"}),
    ):
        refused(answer, 404, "ENTRY_NOT_FOUND")


@pytest.mark.in_process
@pytest.mark.parametrize("body", TIERS)
def test_every_character_of_an_id_counts(tenant: Tenant, body: dict[str, Any]) -> None:
    id = create(tenant.admin, body)["id"]
    for place in range(len("mem_"), len(id)):
        other = "a" if id[place] != "a" else "e"
        wrong = f"{id[:place]}{other}{id[place + 1 :]}"
        refused(read(tenant.admin, wrong), 404, "ENTRY_NOT_FOUND")
    for wrong in (id.upper(), id[:-1], f"{id}0", f"mem_{id}"):
        refused(read(tenant.admin, wrong), 404, "ENTRY_NOT_FOUND")


@pytest.mark.parametrize("body", TIERS)
def test_reading_is_no_change(tenant: Tenant, clock: MovableClock, body: dict[str, Any]) -> None:
    made = create(tenant.admin, body)
    for _ in range(3):
        clock.advance(seconds=3600)
        assert ok(read(tenant.admin, made["id"])) == made
        assert query(tenant.admin) == [made]


def bare_list(client: httpx.Client, agent: str, **filters: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ok(client.get(f"/api/v1/agents/{agent}/memory", params=filters))
    return found


def test_an_agents_memory_is_a_bare_array_newest_first(tenant: Tenant, clock: MovableClock) -> None:
    alice = tenant.user("alice")
    made = []
    for body in (entry(key="e", tags=["t"]), working(key="w", tags=["t", "u"]), semantic(key="s")):
        clock.advance(seconds=1)
        made.append(create(alice, body))
    episodic, work, _ = made
    assert bare_list(alice, "alice") == [work, episodic]
    assert bare_list(alice, "alice", limit=1, offset=1) == [episodic]
    assert bare_list(alice, "alice", tags="t,u") == [work]
    assert bare_list(alice, "alice", memory_type="episodic") == [episodic]
    assert bare_list(alice, "alice", namespace="no*", key="w") == [work]
    assert bare_list(alice, "alice", pinned="false", memory_type="episodic") == [episodic]
    assert bare_list(alice, "nobody") == []
    invalid(alice.get("/api/v1/agents/alice/memory", params={"limit": "0"}), "limit")


@pytest.mark.parametrize("agent", ["a b", "100%", "Zoë?#&=+", "a%2Fb"])
def test_an_agent_id_may_hold_any_character_in_a_path(tenant: Tenant, agent: str) -> None:
    client = tenant.agent(agent)
    made = create(client, entry())
    path = f"/api/v1/agents/{httpx.QueryParams({'a': agent})}".replace("/a=", "/").replace(
        "+", "%20"
    )
    assert ok(client.get(f"{path}/memory")) == [made]
    assert ok(client.get(f"{path}/memory/summary"))["agent_id"] == agent


def summary(client: httpx.Client, agent: str) -> dict[str, Any]:
    answer: dict[str, Any] = ok(client.get(f"/api/v1/agents/{agent}/memory/summary"))
    return answer


def test_the_summary_of_an_agent_without_memory(tenant: Tenant) -> None:
    assert summary(tenant.agent("alice"), "alice") == {
        "agent_id": "alice",
        "working": {"entry_count": 0, "total_size_kb": 0, "tasks_with_memory": []},
        "episodic": {
            "entry_count": 0,
            "capacity": 1000,
            "pinned_count": 0,
            "total_size_kb": 0,
            "oldest_entry": None,
            "newest_entry": None,
        },
        "semantic_namespaces_accessible": [],
    }


def test_the_summary_is_exact(tenant: Tenant, clock: MovableClock) -> None:
    alice = tenant.agent("alice")
    create_task(alice, id="task_1")
    create(alice, working(key="w1", value=sized(1025)))
    create(alice, working("task_1", key="w2"))
    oldest = create(alice, entry(key="e1", pinned=True, value=sized(3000)))
    clock.advance(seconds=5)
    newest = create(alice, entry(key="e2"))
    create(tenant.admin, semantic())
    assert summary(alice, "alice") == {
        "agent_id": "alice",
        "working": {"entry_count": 2, "total_size_kb": 2, "tasks_with_memory": ["task_1"]},
        "episodic": {
            "entry_count": 2,
            "capacity": 1000,
            "pinned_count": 1,
            "total_size_kb": 3,
            "oldest_entry": oldest["created_at"],
            "newest_entry": newest["created_at"],
        },
        "semantic_namespaces_accessible": ["facts"],
    }


def test_the_summary_follows_changes(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    create_task(alice, id="task_1")
    doomed = create(alice, working("task_1"))
    kept = create(alice, entry(key="e", value=sized(2000)))
    unpinned = {"pinned": True, "value": {}}
    ok(alice.patch(f"{MEMORY}/{kept['id']}", json=unpinned, headers={"If-Match": "1"}))
    alice.delete(f"{MEMORY}/{doomed['id']}")
    now = summary(alice, "alice")
    assert now["working"] == {"entry_count": 0, "total_size_kb": 0, "tasks_with_memory": []}
    assert (now["episodic"]["pinned_count"], now["episodic"]["total_size_kb"]) == (1, 1)


def test_the_summary_leaves_out_namespaces_that_may_not_be_read(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    for name, default in (("open", "read"), ("shut", "none")):
        body = {"permissions": {"default": default, "allow": []}}
        ok(tenant.admin.patch(f"{MEMORY}/namespaces/{name}", json=body))
    assert summary(alice, "alice")["semantic_namespaces_accessible"] == ["open"]

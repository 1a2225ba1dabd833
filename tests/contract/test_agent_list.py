"""The list of agents: what each holds and how much room is left, by whom they concern (§11)."""

from typing import Any

import httpx

from tests.contract.bodies import change_task, create, create_task, entry, working
from tests.contract.expect import ok
from tests.contract.service import Tenant

PATH = "/api/v1/agents"


def listed(client: httpx.Client, **query: Any) -> list[str]:
    """The ids of the agents that somebody may know of."""
    return [each["agent_id"] for each in ok(client.get(PATH, params=query))["agents"]]


def test_counts_and_room(tenant: Tenant, ada: httpx.Client) -> None:
    settings = {"episodic": {"capacity": 7}, "working": {"max_entries": 5}}
    ok(tenant.admin.patch("/api/v1/agents/ada/memory/config", json=settings))
    for key in "ab":
        create(ada, entry(key=key, pinned=key == "a"))
    create(ada, working("w"))
    (found,) = ok(ada.get(PATH))["agents"]
    assert (found["agent_id"], found["kind"], found["agent_type"]) == ("ada", "agent", None)
    episodic, outside = found["episodic"], found["working"]
    assert (episodic["entry_count"], episodic["pinned_count"]) == (2, 1)
    assert (episodic["capacity"], episodic["room"], episodic["total_size_kb"]) == (7, 5, 1)
    assert (outside["entry_count"], outside["max_entries"], outside["room"]) == (1, 5, 4)
    assert outside["total_size_kb"] == 1


def test_who_sees_which_agents(tenant: Tenant) -> None:
    ada, bob = tenant.agents("ada", "bob")
    boss, kim = tenant.coordinator("boss"), tenant.user("kim")
    task = create_task(boss, id="t", assigned_agent="bob")
    assert (listed(ada), listed(bob), listed(boss), listed(kim)) == (["ada"], ["bob"], ["bob"], [])
    create(kim, entry(agent_id="kim"))
    assert listed(kim) == ["kim"]
    assert sorted(listed(tenant.admin)) == ["ada", "bob", "kim"]
    ok(change_task(boss, task, status="completed"))
    assert listed(boss) == []

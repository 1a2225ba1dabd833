"""An empty list says whether there is nothing, or nothing that the caller may read (§11)."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, NAMESPACES, allow, create, create_task, entry, semantic
from tests.contract.expect import ok
from tests.contract.service import Tenant

LISTS = {
    "entries": MEMORY,
    "namespaces": NAMESPACES,
    "intents": "/api/v1/intents",
    "agents": "/api/v1/agents",
    "conversations": "/api/v1/users/ada/conversations",
    "spaces": "/api/v1/objects",
    "states": "/api/v1/agents/ada/state/ada",
    "states of all owners": "/api/v1/agents/ada/state",
}


def is_hidden(client: httpx.Client, path: str, **query: Any) -> bool:
    """Whether an empty list says that it holds what its reader may not read."""
    answer = client.get(path, params=query)
    found = ok(answer)
    if isinstance(found, list):
        assert found == []
        return "x-hidden" in answer.headers
    (elements,) = [each for each in found.values() if isinstance(each, list | dict)]
    assert not elements
    return found.get("hidden", False) is True


@pytest.fixture
def eve(tenant: Tenant) -> httpx.Client:
    return tenant.user("eve")


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_list_of_nothing_hides_nothing(eve: httpx.Client, name: str) -> None:
    assert not is_hidden(eve, LISTS[name])


def test_lists_say_that_there_is_what_one_may_not_read(tenant: Tenant, eve: httpx.Client) -> None:
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    create(boss, semantic(namespace="billing"))
    allow(tenant.admin, "billing", "none")
    create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    talk = {"user_id": "ada", "agent_participants": ["ada"], "messages": []}
    ok(ada.put("/api/v1/conversations/s", json=talk), 201)
    ok(ada.put("/api/v1/agents/ada/objects/files/k", content=b"x"), 201)
    ok(ada.put("/api/v1/agents/ada/state/ada/k", json={"value": 1}))
    for name, path in LISTS.items():
        assert is_hidden(eve, path), name
    for path in ("/api/v1/intents/i/tasks", "/api/v1/agents/ada/tasks"):
        assert is_hidden(eve, path), path
    assert not is_hidden(eve, "/api/v1/intents/unknown/tasks")
    assert not is_hidden(ada, "/api/v1/agents/ada/tasks", status="failed")


def test_a_query_says_that_it_asks_for_others_memory(tenant: Tenant, eve: httpx.Client) -> None:
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    create(ada, entry())
    assert is_hidden(eve, MEMORY, agent_id="ada")
    assert is_hidden(tenant.admin, "/api/v1/agents/ada/memory", memory_type="episodic")
    assert is_hidden(eve, MEMORY, agent_id="ada", key="unknown")
    assert not is_hidden(ada, MEMORY, agent_id="ada", key="unknown")
    create_task(boss, id="t", assigned_agent="ada")
    own = {"agent_id": "ada", "memory_type": "episodic", "key": "unknown"}
    assert not is_hidden(boss, MEMORY, **own)
    assert is_hidden(eve, MEMORY, **{"scope.task_id": "t"})
    assert not is_hidden(boss, MEMORY, **{"scope.task_id": "t", "memory_type": "working"})

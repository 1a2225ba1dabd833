"""`hidden` says of an empty list that the caller named what it may not read (CONTRACT3, section 3).

It depends on the request and on the caller's rights, never on what exists. An exact name of a
namespace is the exception: only a namespace that exists can have rules that forbid reading it.
"""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, NAMESPACES, allow, create, create_task, entry, semantic
from tests.contract.expect import ok
from tests.contract.service import Tenant

UNNAMED = (
    *(MEMORY, f"{MEMORY}?memory_type=semantic&namespace=bill*", NAMESPACES),
    *("/api/v1/intents", "/api/v1/agents", "/api/v1/objects", "/api/v1/conversations"),
)
NAMED = (
    "/api/v1/users/ada/conversations",
    "/api/v1/agents/ada/state/ada",
    "/api/v1/agents/ada/state",
    "/api/v1/agents/ada/tasks",
    "/api/v1/intents/i/tasks",
    f"{MEMORY}?agent_id=ada&memory_type=episodic",
    f"{MEMORY}?scope.task_id=t",
)


def is_hidden(client: httpx.Client, path: str, **query: Any) -> bool:
    """Return whether an empty list says that its reader may not read what the request names."""
    answer = client.get(path, params=query or None)
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


def _fill(tenant: Tenant) -> httpx.Client:
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    create(boss, semantic(namespace="billing"))
    allow(tenant.admin, "billing", "none")
    create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    talk = {"user_id": "ada", "agent_participants": ["ada"], "messages": []}
    ok(ada.put("/api/v1/conversations/s", json=talk), 201)
    ok(ada.put("/api/v1/agents/ada/objects/files/k", content=b"x"), 201)
    ok(ada.put("/api/v1/agents/ada/state/ada/k", json={"value": 1}))
    create(ada, entry())
    return ada


@pytest.mark.parametrize("is_filled", [False, True])
def test_lists_say_only_what_the_request_says(
    tenant: Tenant, eve: httpx.Client, *, is_filled: bool
) -> None:
    if is_filled:
        _fill(tenant)
    assert [path for path in UNNAMED if is_hidden(eve, path)] == []
    assert [path for path in NAMED if not is_hidden(eve, path)] == []


def test_nothing_is_hidden_from_its_owner(tenant: Tenant) -> None:
    ada = _fill(tenant)
    assert not is_hidden(ada, "/api/v1/agents/ada/tasks", status="failed")
    assert not is_hidden(ada, "/api/v1/intents/i/tasks", status="failed")
    assert not is_hidden(ada, "/api/v1/users/ada/conversations", tags="none")
    assert not is_hidden(ada, MEMORY, agent_id="ada", key="unknown")
    own = {"agent_id": "ada", "memory_type": "episodic", "key": "unknown"}
    boss = tenant.coordinator("lead")
    create_task(boss, id="t2", assigned_agent="ada")
    assert not is_hidden(boss, MEMORY, **own)
    assert not is_hidden(boss, MEMORY, **{"scope.task_id": "t2", "memory_type": "working"})


def test_an_exact_namespace_is_refused_in_its_list(tenant: Tenant, eve: httpx.Client) -> None:
    _fill(tenant)
    asked = {"memory_type": "semantic"}
    assert is_hidden(eve, MEMORY, namespace="billing", **asked)
    assert not is_hidden(eve, MEMORY, namespace="billinh", **asked)

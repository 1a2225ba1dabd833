"""Strategies: what is learned from conversations, and when."""

from typing import Any

import pytest

from tests.contract.expect import ok, refused
from tests.contract.service import Tenant

STRATEGIES = "/api/v1/strategies"


def test_a_strategy_has_defaults(tenant: Tenant) -> None:
    made = ok(tenant.admin.put(f"{STRATEGIES}/notes", json={"kind": "facts"}), 201)
    assert made["namespace"] == "users/{user_id}/memory"
    assert made["trigger"] == {"messages": 20, "idle": "PT10M"}
    assert (made["enabled"], made["version"], made["model"]) == (True, 1, None)
    assert ok(tenant.admin.get(f"{STRATEGIES}/notes")) == made
    assert ok(tenant.agent("ada").get(STRATEGIES))["strategies"] == [made]


def test_a_change_makes_a_version_and_a_repetition_none(tenant: Tenant) -> None:
    body = {"kind": "summary", "trigger": {"messages": 3}, "instructions": "In one sentence."}
    ok(tenant.admin.put(f"{STRATEGIES}/notes", json=body), 201)
    assert ok(tenant.admin.put(f"{STRATEGIES}/notes", json=body))["version"] == 1
    changed = ok(tenant.admin.put(f"{STRATEGIES}/notes", json=body | {"enabled": False}))
    assert (changed["version"], changed["enabled"]) == (2, False)
    stale = tenant.admin.put(f"{STRATEGIES}/notes", json=body, headers={"If-Match": "1"})
    refused(stale, 409, "VERSION_MISMATCH")


def test_a_deleted_strategy_is_gone(tenant: Tenant) -> None:
    ok(tenant.admin.put(f"{STRATEGIES}/notes", json={"kind": "facts"}), 201)
    assert tenant.admin.delete(f"{STRATEGIES}/notes").status_code == 204
    for path in ("notes", "notes/status"):
        refused(tenant.admin.get(f"{STRATEGIES}/{path}"), 404, "NOT_FOUND")
    refused(tenant.admin.delete(f"{STRATEGIES}/notes"), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "gossip"},
        {"trigger": {}},
        {"trigger": {"idle": "soon"}},
        {"trigger": {"idle": "P"}},
        {"trigger": {"messages": 0}},
        {"namespace": "users/{name}/memory"},
        {"namespace": "users/{user_id/memory"},
        {"namespace": "users/*"},
        {"namespace": "agents/boss/memory"},
    ],
    ids=str,
)
def test_a_wrong_strategy_is_rejected(tenant: Tenant, wrong: dict[str, Any]) -> None:
    body = {"kind": "facts"} | wrong
    refused(tenant.admin.put(f"{STRATEGIES}/notes", json=body), 400, "VALIDATION_ERROR")


def test_a_tenant_has_at_most_twenty_strategies(tenant: Tenant) -> None:
    for number in range(20):
        ok(tenant.admin.put(f"{STRATEGIES}/s{number}", json={"kind": "facts"}), 201)
    another = tenant.admin.put(f"{STRATEGIES}/another", json={"kind": "facts"})
    refused(another, 429, "CAPACITY_EXCEEDED")


def test_only_an_admin_changes_strategies(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    ok(tenant.admin.put(f"{STRATEGIES}/notes", json={"kind": "facts"}), 201)
    refused(ada.put(f"{STRATEGIES}/notes", json={"kind": "summary"}), 403, "ACCESS_DENIED")
    refused(ada.delete(f"{STRATEGIES}/notes"), 403, "ACCESS_DENIED")


def test_the_status_tells_what_is_used_and_what_waits(tenant: Tenant) -> None:
    ok(tenant.admin.put(f"{STRATEGIES}/notes", json={"kind": "facts"}), 201)
    status = ok(tenant.admin.get(f"{STRATEGIES}/notes/status"))
    assert status["model"] is None
    assert status["waiting"] == {"trigger": 0, "running": 0, "budget": 0, "retry": 0}
    assert status["budget"]["tokens_limit"] == 1_000_000


def test_a_conversation_says_whether_strategies_may_learn(tenant: Tenant) -> None:
    path = "/api/v1/conversations/s"
    ok(tenant.admin.put(path, json={"user_id": "ada", "learn": False}), 201)
    assert ok(tenant.admin.get(path))["learn"] is False
    ok(tenant.admin.patch(path, json={"learn": None}))
    assert ok(tenant.admin.get(path))["learn"] is None


def test_strategies_are_listed_in_pages(tenant: Tenant) -> None:
    for name in ("c", "a", "b"):
        ok(tenant.admin.put(f"{STRATEGIES}/{name}", json={"kind": "facts"}), 201)
    first = ok(tenant.admin.get(STRATEGIES, params={"limit": 2}))
    rest = ok(tenant.admin.get(STRATEGIES, params={"limit": 2, "after": first["next"]}))
    found = [each["name"] for page in (first, rest) for each in page["strategies"]]
    assert (found, "next" in rest) == (["a", "b", "c"], False)

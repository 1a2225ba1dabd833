"""Agent Memory Protocol §3, §4.2: agents' states."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import items
from tests.contract.transport import MovableClock

VALUES: list[Any] = [None, True, 0, 2**70, -1.5e300, "Grüße\u0000", [], [1, [2]], {}, {"a": None}]


def path(key: str = "", agent: str = "alice", owner: str = "user_1") -> str:
    return f"/api/v1/agents/{agent}/state/{owner}" + (f"/{key}" if key else "")


def test_any_json_value_is_given_back(alice: httpx.Client) -> None:
    for value in VALUES:
        ok(alice.put(path("k"), json={"value": value}))
        found = ok(alice.get(path("k")))["value"]
        assert (found, type(found)) == (value, type(value))


def test_a_state_is_replaced_at_its_version(alice: httpx.Client) -> None:
    first = alice.put(path("k"), json={"value": 1})
    assert first.headers["ETag"] == '"1"'
    ok(alice.put(path("k"), json={"value": 2}, headers={"If-Match": "1"}))
    stale = alice.put(path("k"), json={"value": 3}, headers={"If-Match": "1"})
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 2
    absent = alice.put(path("new"), json={"value": 3}, headers={"If-Match": "1"})
    refused(absent, 404, "NOT_FOUND")
    assert ok(alice.get(path("k")))["value"] == 2


def test_all_states_of_an_owner_come_in_one_call(alice: httpx.Client) -> None:
    for number in range(30):
        ok(alice.put(path(f"k{number}"), json={"value": number}))
    ok(alice.put(path("k", owner="user_2"), json={"value": "other"}))
    found = ok(alice.get(path()))
    assert found["states"] == {f"k{number}": number for number in range(30)}
    assert ok(alice.get(path(owner="nobody")))["states"] == {}


@pytest.mark.parametrize("total", ["exact", "none"])
def test_pages_of_states_come_by_last_update(
    alice: httpx.Client, clock: MovableClock, total: str
) -> None:
    for key in ("c", "a", "b", "a"):
        ok(alice.put(path(key), json={"value": key}))
        clock.advance(seconds=1)
    assert list(ok(alice.get(path()))["states"]) == ["a", "b", "c"]
    first = ok(alice.get(path(), params={"limit": 1, "total": total}))
    assert (list(first["states"]), first.get("total")) == (["a"], 3 if total == "exact" else None)
    ok(alice.put(path("a"), json={"value": "again"}))
    after = {"limit": 1, "total": total, "after": first["next"]}
    second = ok(alice.get(path(), params=after))
    third = ok(alice.get(path(), params=after | {"after": second["next"], "values": "omit"}))
    assert list(second["states"]) == ["b"]
    assert ([head["key"] for head in third["heads"]], "next" in third) == (["c"], False)
    invalid(alice.get(path(owner="user_2"), params=after), "after")


def test_an_agent_lists_its_states_of_all_owners(
    tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    for owner, key in (("ada", "a"), ("bob", "b"), ("ada", "c"), ("ada", "a")):
        ok(alice.put(path(key, owner=owner), json={"value": [owner, key]}))
        clock.advance(seconds=1)
    ok(tenant.agent("al").put(path("k", agent="al"), json={"value": 1}))
    listed: list[dict[str, Any]] = []
    after = None
    while after is not None or not listed:
        params = {"limit": 1} | ({} if after is None else {"after": after})
        page = ok(alice.get("/api/v1/agents/alice/state", params=params))
        listed += page["states"]
        after = page.get("next")
    found = [(each["owner_id"], each["key"]) for each in listed]
    assert sorted(found) == [("ada", "a"), ("ada", "c"), ("bob", "b")]
    assert [key for owner, key in found if owner == "ada"] == ["a", "c"]
    whole = [ok(alice.get(path(key, owner=owner))) for owner, key in found]
    assert listed == whole
    heads = ok(alice.get("/api/v1/agents/alice/state", params={"values": "omit"}))["states"]
    assert heads == [{n: v for n, v in each.items() if n != "value"} for each in whole]


def test_the_list_of_an_agents_states_shows_what_its_reader_may_read(
    tenant: Tenant, alice: httpx.Client
) -> None:
    for agent, owner in (("alice", "ada"), ("alice", "bob"), ("sdr", "ada")):
        writer = alice if agent == "alice" else tenant.agent("first", agent_type="sdr")
        ok(writer.put(path("k", agent=agent, owner=owner), json={"value": 1}))
    second, ada = tenant.agent("second", agent_type="sdr"), tenant.user("ada")

    def owners(client: httpx.Client, agent: str) -> list[str]:
        found = ok(client.get(f"/api/v1/agents/{agent}/state"))
        return sorted(each["owner_id"] for each in found["states"])

    assert owners(alice, "alice") == ["ada", "bob"]
    assert owners(ada, "alice") == owners(ada, "sdr") == owners(second, "sdr") == ["ada"]
    assert owners(second, "alice") == owners(tenant.admin, "alice") == []


def test_a_deleted_state_is_not_found(alice: httpx.Client) -> None:
    ok(alice.put(path("k"), json={"value": 1}))
    refused(alice.delete(path("k"), headers={"If-Match": "7"}), 409, "VERSION_MISMATCH")
    assert_no_content(alice.delete(path("k")))
    refused(alice.get(path("k")), 404, "NOT_FOUND")
    refused(alice.delete(path("k")), 404, "NOT_FOUND")
    assert ok(alice.put(path("k"), json={"value": 2}))["version"] == 1


def test_similar_keys_are_different_states(alice: httpx.Client) -> None:
    for key in ("a", "a/b", "a%2Fb", "a#b", "Ä", "ä"):
        where = path(key.replace("%", "%25").replace("#", "%23"))
        ok(alice.put(where, json={"value": key}))
    states = ok(alice.get(path()))["states"]
    assert states == {key: key for key in states}
    assert len(states) == 6


def test_a_state_may_have_the_name_of_an_agents_list(alice: httpx.Client) -> None:
    for key in ("tasks", "events", "memory", "memory/summary", "memory/config", "state", "a/tasks"):
        ok(alice.put(path(key), json={"value": key}))
        assert ok(alice.get(path(key)))["value"] == key


def test_agents_of_a_type_share_its_states(tenant: Tenant) -> None:
    first, second = (tenant.agent(name, agent_type="sdr") for name in ("first", "second"))
    shared = path("tone", agent="sdr")
    ok(first.put(shared, json={"value": "formal"}))
    assert ok(second.put(shared, json={"value": "warm"}))["version"] == 2
    assert ok(first.get(path(agent="sdr")))["states"] == {"tone": "warm"}
    refused(tenant.agent("other", agent_type="ae").get(shared), 403, "ACCESS_DENIED")
    assert_no_content(second.delete(shared))


@pytest.mark.usefixtures("volume")
def test_a_large_state_is_stored_in_parts_and_leaves_none(
    service: Service, alice: httpx.Client
) -> None:
    large = secrets.token_hex(300_000)
    for sensitivity in (None, "restricted"):
        ok(alice.put(path("k"), json={"value": large, "sensitivity": sensitivity}))
        assert ok(alice.get(path("k")))["value"] == large
    assert ok(alice.get(path()))["states"] == {"k": large}
    assert len(ok(alice.get(path(), params={"values": "omit"}))["heads"]) == 1
    parts = len(items(service, "y#"))
    ok(alice.put(path("k"), json={"value": large + "2"}))
    assert 0 < len(items(service, "y#")) <= parts
    ok(alice.put(path("k"), json={"value": "small"}))
    assert ok(alice.get(path("k")))["value"] == "small"
    ok(alice.put(path("k"), json={"value": large}))
    assert_no_content(alice.delete(path("k")))
    assert items(service, "y#") == items(service, "l#") == []
    problem = refused(alice.put(path("k"), json={"value": "x" * 4_194_303}), 413, "VALUE_TOO_LARGE")
    assert (problem["max"], problem["actual"]) == (4_194_304, 4_194_305)


def test_a_put_that_is_repeated_at_its_version_is_answered_again(alice: httpx.Client) -> None:
    ok(alice.put(path("k"), json={"value": 1}))
    at = {"If-Match": "1", "Idempotency-Key": "one"}
    for _ in range(2):
        assert ok(alice.put(path("k"), json={"value": 2}, headers=at))["version"] == 2
    other = alice.put(path("k"), json={"value": 3}, headers=at)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    for at in ({"If-Match": "0"}, {"If-None-Match": "*"}):
        refused(alice.put(path("k"), json={"value": 3}, headers=at), 409, "VERSION_MISMATCH")
    both = {"If-Match": "2", "If-None-Match": "*"}
    refused(alice.put(path("k"), json={"value": 3}, headers=both), 400, "VALIDATION_ERROR")


def test_a_sensitive_state_is_encrypted(service: Service, alice: httpx.Client) -> None:
    body = {"value": "hidden-text", "sensitivity": "confidential"}
    ok(alice.put(path("k"), json=body))
    assert ok(alice.get(path("k")))["value"] == "hidden-text"
    assert "hidden-text" not in str(service.stored())


@pytest.mark.usefixtures("parallel")
def test_concurrent_conditional_puts_lose_nothing(alice: httpx.Client) -> None:
    ok(alice.put(path("k"), json={"value": 0}))

    def increment(_: int) -> None:
        while True:
            at = ok(alice.get(path("k")))
            version = {"If-Match": str(at["version"])}
            answer = alice.put(path("k"), json={"value": at["value"] + 1}, headers=version)
            if answer.status_code == 200:
                return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(increment, range(40)))
    assert ok(alice.get(path("k")))["value"] == 40

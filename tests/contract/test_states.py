"""Agent Memory Protocol §3, §4.2; contract §9: agents' states."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Service, Tenant

VALUES: list[Any] = [None, True, 0, 2**70, -1.5e300, "Grüße\u0000", [], [1, [2]], {}, {"a": None}]


def path(key: str = "", agent: str = "alice", owner: str = "user_1") -> str:
    """The path of a state, or of all."""
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


def test_others_neither_read_nor_write_a_state(tenant: Tenant, alice: httpx.Client) -> None:
    bob, user, boss = tenant.agent("bob"), tenant.user("user_1"), tenant.coordinator("boss")
    ok(alice.put(path("own"), json={"value": "a"}))
    ok(boss.put(path("set-up"), json={"value": "b"}))
    refused(bob.put(path("own"), json={"value": "b"}), 403, "ACCESS_DENIED")
    refused(bob.get(path("own")), 403, "ACCESS_DENIED")
    refused(user.delete(path("own")), 403, "ACCESS_DENIED")
    shown = [set(ok(reader.get(path()))["states"]) for reader in (alice, user, boss, bob)]
    assert shown == [{"own", "set-up"}, {"own", "set-up"}, {"set-up"}, set()]


def test_another_tenants_states_do_not_exist(service: Service, tenant: Tenant) -> None:
    ok(tenant.admin.put(path("k"), json={"value": 1}))
    refused(service.tenant().admin.get(path("k")), 404, "NOT_FOUND")


def test_a_malformed_state_is_refused(alice: httpx.Client) -> None:
    invalid(alice.put(path("k"), json={"value": 1, "more": 2}))
    refused(alice.get(path("k")), 404, "NOT_FOUND")


def test_a_state_has_a_maximum_size(alice: httpx.Client) -> None:
    ok(alice.put(path("k"), json={"value": "x" * 65_534}))
    problem = refused(alice.put(path("k"), json={"value": "x" * 65_535}), 413, "VALUE_TOO_LARGE")
    assert (problem["max"], problem["actual"]) == (65_536, 65_537)


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

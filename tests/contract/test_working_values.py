"""ADR-043 Tier 1: what an instance of an agent holds while it works."""

from typing import Any

import httpx
import pytest

from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Service
from tests.contract.test_concurrency import at_once
from tests.contract.transport import MovableClock

BUDGET = 131_072


def path(key: str = "", instance: str = "sdr-1") -> str:
    return f"/api/v1/instances/{instance}/working" + (f"/{key}" if key else "")


def text(size: int) -> str:
    """A JSON string of exactly `size` bytes."""
    return "x" * (size - 2)


def values(client: httpx.Client, instance: str = "sdr-1") -> Any:
    return ok(client.get(path(instance=instance)))["values"]


def test_a_value_is_stored_and_returned(sdr: httpx.Client) -> None:
    kept = {
        "current_contact_id": "123456",
        "email_draft_v2": {"to": ["ada"], "n": 2**60},
        "x": None,
    }
    for key, value in kept.items():
        stored = ok(sdr.put(path(key), json={"value": value}))
        assert (stored["instance_id"], stored["key"], stored["value"]) == ("sdr-1", key, value)
        assert ok(sdr.get(path(key))) == stored
    assert values(sdr) == kept
    assert values(sdr, "sdr-2") == {}
    ok(sdr.put(path("x"), json={"value": "new"}))
    assert values(sdr)["x"] == "new"


def test_each_value_lives_for_an_hour_from_its_last_write(
    sdr: httpx.Client, clock: MovableClock
) -> None:
    ok(sdr.put(path("old"), json={"value": 1}))
    ok(sdr.put(path("renewed"), json={"value": 1}))
    clock.advance(seconds=3599)
    ok(sdr.put(path("renewed"), json={"value": 2}))
    assert values(sdr) == {"old": 1, "renewed": 2}
    clock.advance(seconds=1)
    assert values(sdr) == {"renewed": 2}
    refused(sdr.get(path("old")), 404, "NOT_FOUND")
    refused(sdr.delete(path("old")), 404, "NOT_FOUND")


def test_dynamodb_removes_the_item_after_an_hour(
    sdr: httpx.Client, service: Service, clock: MovableClock
) -> None:
    ok(sdr.put(path("k"), json={"value": 1}))
    (item,) = [item for item in service.engine.items() if "values_by_key" in item]
    assert 3600 <= int(item["ttl_at"]["N"]) - clock() / 1000 < 3601


def test_a_deleted_value_is_not_found(sdr: httpx.Client) -> None:
    ok(sdr.put(path("k"), json={"value": 1}))
    assert_no_content(sdr.delete(path("k")))
    refused(sdr.get(path("k")), 404, "NOT_FOUND")
    assert ok(sdr.get(path()))["total_bytes"] == 0


def test_the_budget_is_exact(sdr: httpx.Client, clock: MovableClock) -> None:
    ok(sdr.put(path("a"), json={"value": text(BUDGET - 12)}))
    ok(sdr.put(path("b"), json={"value": text(10)}))
    full = refused(sdr.put(path("c"), json={"value": 1}), 429, "CAPACITY_EXCEEDED")
    assert (full["current_count"], full["max_capacity"]) == (BUDGET, BUDGET)
    ok(sdr.put(path("b"), json={"value": text(8)}))
    ok(sdr.put(path("c"), json={"value": 1}))
    assert ok(sdr.get(path()))["total_bytes"] == BUDGET
    clock.advance(seconds=3600)
    ok(sdr.put(path("d"), json={"value": text(BUDGET - 1)}))


def test_a_malformed_value_is_refused(sdr: httpx.Client) -> None:
    large = refused(sdr.put(path("k"), json={"value": text(BUDGET + 1)}), 413, "VALUE_TOO_LARGE")
    assert (large["max"], large["actual"]) == (BUDGET, BUDGET + 1)
    invalid(sdr.put(path("k"), json={}), "value")
    invalid(sdr.put(path("k"), json={"value": 1, "ttl": 5}), "ttl")
    invalid(sdr.put(path("k" * 256), json={"value": 1}), "key")
    assert values(sdr) == {}


@pytest.mark.usefixtures("parallel")
def test_concurrent_puts_lose_nothing_and_keep_the_budget(sdr: httpx.Client) -> None:
    share = BUDGET // 8 - 3  # beside a key of two or three bytes
    answers = at_once(12, lambda n: sdr.put(path(f"k{n}"), json={"value": text(share)}))
    taken = [n for n, answer in enumerate(answers) if answer.status_code == 200]
    assert len(taken) == 8
    assert {answer.status_code for answer in answers} == {200, 429}
    assert set(values(sdr)) == {f"k{n}" for n in taken}


def test_similar_keys_are_different_values(sdr: httpx.Client) -> None:
    for key in ("a", "a/b", "A", "ä"):
        ok(sdr.put(path(key), json={"value": key}))
    assert values(sdr) == {key: key for key in ("a", "a/b", "A", "ä")}

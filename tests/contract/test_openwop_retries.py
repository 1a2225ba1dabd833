"""Test that a request that is repeated with its Idempotency-Key has no second effect."""

import httpx
import pytest

from tests.contract.expect import ok
from tests.contract.openwop_calls import (
    RUNS,
    Run,
    erring,
    memory_items,
    path,
    present,
    start,
    started,
)
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.in_process

ONCE = {"Idempotency-Key": "once"}
SECRETS = [{"label": "k", "value": "sk-12345678"}]
BODY = {"agent": "planner", "secrets": SECRETS}


def put(run: Run, content: str, **headers: str) -> httpx.Response:
    """Puts an entry in a run, once."""
    body = {"content": content, "runId": run.id, "tags": ["t"]}
    return run.client.post(path(run.reference), json=body, headers=ONCE | headers)


def test_a_retried_start_answers_the_same_run(
    ada: httpx.Client, clock: MovableClock, service: Service
) -> None:
    first = started(ada, ada.post(RUNS, json=BODY, headers=ONCE))
    first.put("after the start")
    clock.advance(seconds=5)
    assert started(ada, ada.post(RUNS, json=BODY, headers=ONCE)) == first
    assert first.entries() == []
    assert len(memory_items(service, "r#")) == 1
    assert start(ada).id != first.id


def test_another_body_is_a_conflict(ada: httpx.Client) -> None:
    ok(ada.post(RUNS, json=BODY, headers=ONCE), 201)
    other = BODY | {"secrets": [{"label": "k", "value": "sk-12345679"}]}
    answer = ada.post(RUNS, json=other, headers=ONCE)
    erring(answer, 409, "idempotency_key_mismatch")


def test_a_replay_under_the_key_of_its_run_conflicts(ada: httpx.Client) -> None:
    run = ada.post(RUNS, json={"agent": "planner"}, headers=ONCE).json()["runId"]
    answer = ada.post(RUNS, json={"replayOf": run}, headers=ONCE)
    erring(answer, 409, "idempotency_key_mismatch")


def test_idempotency_keys_belong_to_their_caller(ada: httpx.Client, tenant: Tenant) -> None:
    bob = tenant.agent("bob")
    first = started(ada, ada.post(RUNS, json=BODY, headers=ONCE))
    assert started(bob, bob.post(RUNS, json=BODY, headers=ONCE)).id != first.id


def test_a_closed_run_is_not_started_again(ada: httpx.Client, clock: MovableClock) -> None:
    first = started(ada, ada.post(RUNS, json=BODY, headers=ONCE))
    first.end()
    erring(ada.post(RUNS, json=BODY, headers=ONCE), 409, "run_terminal")
    again = {"Idempotency-Key": "again"}
    started(ada, ada.post(RUNS, json=BODY, headers=again))
    clock.advance(seconds=86_400)
    erring(ada.post(RUNS, json=BODY, headers=again), 409, "run_terminal")


def test_a_retried_put_answers_the_same_entry(ada: httpx.Client, clock: MovableClock) -> None:
    run = start(ada, secrets=SECRETS)
    first = ok(put(run, "it is sk-12345678"), 201)
    run.put("another")
    clock.advance(seconds=5)
    assert ok(put(run, "it is sk-12345678"), 201) == first
    assert present(ada, run.reference) == ["another", "it is <REDACTED:k>"]
    erring(put(run, "it is sk-12345679"), 409, "idempotency_key_mismatch")
    assert len(present(ada, run.reference)) == 2


def test_a_retry_after_a_delete_puts_one_new_entry(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    run = start(ada)
    first = ok(put(run, "x"), 201)
    run.delete(first["id"])
    second = ok(put(run, "x"), 201)
    assert second["id"] != first["id"]
    assert ok(put(run, "x"), 201) == second
    clock.advance(seconds=3)
    assert sweep(service)["entries_purged"] == 1
    assert ok(put(run, "x"), 201) == second
    assert present(ada, run.reference) == ["x"]
    run.delete(second["id"])
    clock.advance(seconds=3)
    sweep(service)
    assert memory_items(service, "o#", "x#", "q#") == []
    assert ok(put(run, "x"), 201)["id"] not in (first["id"], second["id"])


def test_without_a_key_each_put_is_new(ada: httpx.Client) -> None:
    run = start(ada)
    assert run.put("x")["id"] != run.put("x")["id"]
    assert start(ada).contents() == ["x", "x"]

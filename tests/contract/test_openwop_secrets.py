"""The secrets of a run are sealed, die with it, and survive a cold start."""

import json
from io import StringIO
from typing import Any

import httpx
import pytest

from functions.openwop import secret_store
from functions.platform import item_types
from functions.platform.items import decode_item
from tests.contract.expect import ok
from tests.contract.openwop_calls import RUNS, Run, erring, memory_items, path, present, start
from tests.contract.service import Service
from tests.contract.service import start as start_service
from tests.contract.sweeping import sweep
from tests.contract.test_sensitive import is_stored
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.in_process

VALUE = "sk_live_51HXyzExample0042"
SECRETS = [{"label": "stripe", "value": VALUE}]


def elsewhere(run: Run, service: Service) -> Run:
    """Return the run in another process, which has no state of it."""
    again = start_service(service.engine, service.clock, service.key_file, 60)
    client = again.client(run.client.headers["X-API-Key"])
    return Run(client, run.id, run.reference, run.snapshot)


def test_secrets_are_stored_encrypted(
    ada: httpx.Client, service: Service, logged: StringIO
) -> None:
    headers = {"Idempotency-Key": VALUE}
    body = {"agent": "planner", "secrets": SECRETS}
    for _ in range(2):
        assert ada.post(RUNS, json=body, headers=headers).status_code == 201
    assert len(memory_items(service, "k#")) == 1
    assert not is_stored(service, VALUE)
    assert VALUE not in logged.getvalue()


def test_a_secret_in_a_name_is_not_stored_in_clear(ada: httpx.Client, service: Service) -> None:
    start(ada, f"agent {VALUE}", scope=VALUE, secrets=SECRETS).put(VALUE)
    assert not is_stored(service, VALUE)
    later = start(ada, "agent", scope=VALUE)
    later.learn("k", VALUE)
    assert "agent" not in later.state()
    assert not is_stored(service, VALUE)


@pytest.mark.in_process
def test_no_response_and_no_log_line_contains_a_secret(
    ada: httpx.Client, logged: StringIO, service: Service
) -> None:
    run = start(ada, secrets=SECRETS, onSecret="reject")
    wrong: list[dict[str, Any]] = [
        {"secrets": [{"label": f"bad label {VALUE}", "value": VALUE}]},
        {"secrets": [{"label": VALUE, "value": VALUE}]},
        {"secrets": [{"label": "k", "value": [VALUE]}]},
        {"secrets": [{"label": "k", "value": VALUE * 300}]},
        {"secrets": {"k": [VALUE]}},
        {"secrets": [{"label": "k", "value": VALUE}] * 33},
        {"secrets": SECRETS, "onSecret": VALUE},
    ]
    answers = [ada.post(RUNS, json={"agent": "planner"} | fields) for fields in wrong]
    for answer in answers:
        erring(answer, 400, "validation_error")
    answers += [run.try_put(VALUE), run.try_put("x", tags=[VALUE]), run.try_put(f"x{VALUE}" * 9999)]
    answers.append(ada.post(RUNS, content=f'{{"secrets": "{VALUE}'))
    assert not [answer.text for answer in answers if VALUE in answer.text]
    assert VALUE not in logged.getvalue()
    assert logged.getvalue()
    assert not is_stored(service, VALUE)


def test_secrets_survive_a_cold_start(ada: httpx.Client, service: Service) -> None:
    for policy in ("redact", "reject"):
        run = elsewhere(start(ada, policy, secrets=SECRETS, onSecret=policy), service)
        answer = run.try_put(f"it is {VALUE}")
        if policy == "redact":
            assert answer.json()["content"] == "it is <REDACTED:stripe>"
        else:
            erring(answer, 422, "secret_leakage")
    assert not is_stored(service, VALUE)


def test_secrets_are_deleted_when_the_run_ends(ada: httpx.Client, service: Service) -> None:
    run = start(ada, secrets=SECRETS)
    other = elsewhere(run, service)
    other.put("remembers the run")
    assert memory_items(service, "k#")
    run.end()
    assert memory_items(service, "k#") == []
    for each in (run, other, elsewhere(run, service)):
        erring(each.try_put(f"it is {VALUE}"), 409, "run_terminal")
    assert not is_stored(service, VALUE)


def test_secrets_are_deleted_after_a_day(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    run = start(ada, secrets=SECRETS)
    clock.advance(seconds=86_400 + 60, ms=-1)
    sweep(service)
    assert len(memory_items(service, "k#")) == 1
    clock.advance(ms=1)
    assert sweep(service)["secrets_removed"] == 1
    assert memory_items(service, "k#") == []
    erring(elsewhere(run, service).try_put(VALUE), 409, "run_terminal")


def test_secrets_are_bound_to_their_run(ada: httpx.Client, service: Service) -> None:
    """One run's secrets, put in another's place, don't open."""
    first, second = start(ada, secrets=SECRETS), start(ada, secrets=SECRETS)
    client, table = service.engine.client, service.engine.memory
    items = [each for each in service.stored() if each["sk"]["S"].startswith("k#")]
    mine = next(each for each in items if each["sk"]["S"] == f"k#{first.id}")
    partition = decode_item(mine)["pk"]
    _, sort = item_types.RUN_SECRETS.build_key_in(partition, run=second.id)
    theirs = next(each for each in items if each["sk"]["S"] == sort)
    sealed = {name: mine[name] for name in ("value", "data_key")}
    client.put_item(TableName=table, Item=theirs | sealed)
    again = elsewhere(second, service)
    assert again.try_put("x").status_code == 409
    assert present(ada, second.reference) == []


def test_a_run_without_secrets_has_none_stored(ada: httpx.Client, service: Service) -> None:
    assert start(ada).put("1234567")["content"] == "1234567"
    assert memory_items(service, "k#") == []


def test_no_put_stores_a_secret_of_an_open_run(ada: httpx.Client, service: Service) -> None:
    holder, other, elsewhere_run = start(ada, secrets=SECRETS), start(ada), start(ada, "another")
    cold = elsewhere(other, service)
    service.clock.advance(ms=5)  # so that a put's first number is high enough
    outside = ada.post(path(holder.reference), json={"content": VALUE, "tags": [VALUE]})
    assert ok(outside, 201)["tags"] == ["<REDACTED:stripe>"]
    escaped = json.dumps({"key": "".join(f"\\u{ord(each):04x}" for each in VALUE)})
    for content in (VALUE, f"{VALUE[:9]}\n  {VALUE[9:]}", escaped.replace("\\\\", "\\")):
        for run in (holder, other, cold):
            service.clock.advance(ms=5)
            assert "<REDACTED:stripe>" in run.put(content)["content"]
    assert not is_stored(service, VALUE)
    assert elsewhere_run.put(VALUE)["content"] == VALUE
    holder.end()
    assert other.put(VALUE)["content"] == cold.put(VALUE)["content"] == VALUE


def test_a_run_that_rejects_refuses_secrets_of_other_runs(ada: httpx.Client) -> None:
    start(ada, secrets=SECRETS)
    strict, lax = start(ada, onSecret="reject"), start(ada)
    refusal = erring(strict.try_put(VALUE), 422, "secret_leakage")
    assert refusal["details"] == {"labels": ["stripe"]}
    assert lax.put(VALUE)["content"] == "<REDACTED:stripe>"


def test_a_run_learns_a_secret_on_the_way(ada: httpx.Client, service: Service) -> None:
    run, other = start(ada), start(ada)
    cold = elsewhere(other, service)
    cold.put("knows that there are no secrets")
    assert run.learn("stripe", VALUE)["secrets"] == ["stripe"]
    assert run.learn("stripe", VALUE)["secrets"] == ["stripe"]
    assert run.learn("mail", "hunter2-hunter2")["secrets"] == ["stripe", "mail"]
    alone = {"label": "mail", "value": "hunter2-hunter2"}
    assert ok(ada.post(f"{RUNS}/{run.id}/secrets", json=alone))["secrets"] == ["stripe", "mail"]
    for each in (run, other, cold):
        stored = each.put(f"{VALUE} and hunter2-hunter2")["content"]
        assert stored == "<REDACTED:stripe> and <REDACTED:mail>"
    run.end()
    answer = ada.post(f"{RUNS}/{run.id}/secrets", json={"secrets": SECRETS})
    erring(answer, 409, "run_terminal")
    assert memory_items(service, "k#") == []
    assert cold.put(VALUE)["content"] == VALUE


def test_the_secrets_of_a_memorys_open_runs_are_bounded(
    ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_store, "MAX_MEMORY_SECRETS", 2)
    first, second = start(ada, secrets=SECRETS), start(ada, secrets=SECRETS)
    refused = ada.post(RUNS, json={"agent": "planner", "secrets": SECRETS})
    assert erring(refused, 429, "capacity_exceeded")["details"]["limit"] == "open_run_secrets"
    body = {"secrets": [{"label": "more", "value": "hunter2-hunter2"}]}
    erring(ada.post(f"{RUNS}/{second.id}/secrets", json=body), 429, "capacity_exceeded")
    start(ada, "another", secrets=SECRETS)
    first.end()
    assert second.learn("more", "hunter2-hunter2")["secrets"] == ["stripe", "more"]


def test_an_entry_too_large_after_redaction_is_refused(ada: httpx.Client) -> None:
    secrets = [{"label": "a-long-label", "value": "12345678"}]
    run = start(ada, secrets=secrets)
    erring(run.try_put("12345678" * 8_000), 413, "payload_too_large")
    assert len(run.put("12345678" * 2_000)["content"]) == 2_000 * len("<REDACTED:a-long-label>")

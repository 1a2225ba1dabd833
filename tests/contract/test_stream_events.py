"""Every event once, in order, wherever it comes from (RFC-0015 §5)."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.bodies import (
    MEMORY,
    allow,
    change_task,
    create,
    create_task,
    entry,
    query,
    semantic,
    update,
    working,
)
from tests.contract.expect import assert_no_content, ok
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Json, Stream, log, stream_function, summarize
from tests.contract.sweeping import counters_equal_items, sweep
from tests.contract.transport import HandlerTransport, MovableClock, open_client, turns

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
Deliver = Callable[[list[Json]], list[str]]
HUSH = "hush-hush"


@pytest.fixture
def stream(service: Service) -> Stream:
    return Stream(service)


@pytest.fixture
def deliver(service: Service) -> Deliver:
    return stream_function(service)


@pytest.fixture
def ada(stream: Stream, tenant: Tenant) -> httpx.Client:  # noqa: ARG001 - reads from before
    return tenant.agent("ada")


def secret(**changes: Any) -> Json:
    """A create body with a value that no event may show."""
    return entry(value={"secret": HUSH}, **changes)


def life(ada: httpx.Client) -> None:
    """Two entries, side by side, from creation to deletion."""
    made = [create(ada, secret(key=key)) for key in "ab"]
    for version in (1, 2):
        for each in made:
            ok(update(ada, each["id"], version, value={"secret": HUSH, "n": version}))
    for each in made:
        assert_no_content(ada.delete(f"{MEMORY}/{each['id']}"))


LIFE = [f"{what} {key} {n}" for what, n in (("created", 1), ("updated", 2)) for key in "ab"]
LIFE += [f"{what} {key} 3" for what in ("updated", "deleted") for key in "ab"]


def test_events_are_logged_in_order_without_values(
    ada: httpx.Client, stream: Stream, deliver: Deliver
) -> None:
    life(ada)
    assert deliver(stream.read()) == []
    events = log(ada, "agents/ada")
    assert summarize(events) == LIFE
    assert HUSH not in json.dumps(events)
    previous = [each["data"]["previous_version"] for each in events]
    assert previous == [None, None, 1, 1, 2, 2, 3, 3]


def test_reads_and_recorded_accesses_are_no_events(
    ada: httpx.Client, stream: Stream, deliver: Deliver, clock: MovableClock
) -> None:
    made = create(ada, entry())
    clock.advance(seconds=7200)
    for _ in range(3):
        ok(ada.get(f"{MEMORY}/{made['id']}"))
    assert deliver(stream.read()) == []
    assert summarize(log(ada, "agents/ada")) == ["created k 1"]


def test_an_event_is_in_the_log_of_intent_agent_or_namespace(
    ada: httpx.Client, tenant: Tenant, stream: Stream, deliver: Deliver
) -> None:
    boss = tenant.coordinator("boss")
    create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    create(ada, working("t", key="w"))
    create(ada, entry(key="e", scope={"intent_id": "i"}))
    create(ada, entry(key="mine"))
    create(boss, semantic(key="s"))
    assert deliver(stream.read()) == []
    assert summarize(log(boss, "intents/i")) == ["created w 1", "created e 1"]
    assert summarize(log(ada, "agents/ada")) == ["created mine 1"]
    assert summarize(log(ada, "memory/namespaces/facts")) == ["created s 1"]
    (first, _) = log(ada, "intents/i")
    assert (first["task_id"], first["intent_id"], first["agent_id"]) == ("t", "i", "ada")


def test_an_event_stays_in_its_log_when_its_task_gets_an_intent(
    ada: httpx.Client, tenant: Tenant, stream: Stream, deliver: Deliver, clock: MovableClock
) -> None:
    made = create(ada, working("t", key="w"))
    records = stream.read()
    assert deliver(records) == []
    clock.advance(seconds=1)
    boss = tenant.coordinator("boss")
    create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    ok(update(ada, made["id"], 1, value={"n": 2}))
    assert deliver(records + stream.read()) == []
    assert summarize(log(ada, "agents/ada")) == ["created w 1"]
    assert summarize(log(boss, "intents/i")) == ["updated w 2"]


def test_replayed_split_and_reversed_batches_log_the_same_events(
    ada: httpx.Client, stream: Stream, deliver: Deliver, service: Service
) -> None:
    life(ada)
    records = stream.read()
    for start in range(0, len(records), 3):
        assert deliver(records[start : start + 3]) == []
    before = _state(service)
    for end in range(len(records), 0, -5):
        assert deliver(records[:end]) == []
        assert deliver(records) == []
    assert _state(service) == before
    assert summarize(log(ada, "agents/ada")) == LIFE


def _state(service: Service) -> list[str]:
    """All but usage, which counts what comes in other batches again until it is reconciled."""
    return [each for each in service.state() if "#usage" not in each]


def poisoned(record: Json) -> Json:
    """The record, of which nothing can be made."""
    broken: Json = json.loads(json.dumps(record))
    del broken["dynamodb"]["NewImage"]["nonce"]
    return broken


def is_entry(record: Json) -> bool:
    sort: str = record["dynamodb"]["Keys"]["sk"]["S"]
    return sort.startswith("e#")


def test_a_poison_record_is_skipped_and_delays_nothing(
    ada: httpx.Client, stream: Stream, deliver: Deliver
) -> None:
    life(ada)
    records = stream.read()
    entries = [each for each in records if is_entry(each)]
    of_a = [each for each in entries if each["dynamodb"]["Keys"] == entries[0]["dynamodb"]["Keys"]]
    broken = records.index(of_a[1])
    batch = [*records[:broken], poisoned(records[broken]), *records[broken + 1 :]]
    assert deliver(batch) == []
    events = summarize(log(ada, "agents/ada"))
    (missing,) = [each for each in LIFE if each not in events]
    assert " a " in missing
    assert events == [each for each in LIFE if each != missing]
    assert deliver(records[broken : broken + 1]) == []
    assert sorted(summarize(log(ada, "agents/ada"))) == sorted(LIFE)


def test_replacing_an_expired_entry_logs_its_expiry(
    ada: httpx.Client, stream: Stream, deliver: Deliver, clock: MovableClock
) -> None:
    old = create(ada, entry(ttl="duration:PT1S"))
    clock.advance(seconds=2)
    new = create(ada, entry())
    assert deliver(stream.read()) == []
    events = log(ada, "agents/ada")
    assert summarize(events) == ["created k 1", "expired k 1", "created k 1"]
    assert [each["data"]["entry_id"] for each in events] == [old["id"], old["id"], new["id"]]


EXPIRING = [
    entry(key="e", ttl="duration:PT1S", pinned=True),
    working(key="w", ttl="duration:PT1S", value={"s": "x" * 3000}),
    working("t", key="t", ttl="duration:PT1S"),
    semantic(key="s", ttl="duration:PT1S", tags=["x", "y"]),
]


@pytest.mark.parametrize("body", EXPIRING, ids=lambda body: str(body["key"]))
def test_expiry_by_dynamodb_is_logged_and_counted_once(
    tenant: Tenant, service: Service, stream: Stream, deliver: Deliver, body: Json
) -> None:
    made = create(tenant.admin, body)
    service.clock.advance(seconds=2)
    assert deliver(stream.read()) == []
    (place,) = [each for each in service.stored() if each["sk"]["S"].startswith("e#")]
    key = {name: place[name] for name in ("pk", "sk")}
    service.engine.client.delete_item(TableName=service.engine.memory, Key=key)
    assert not counters_equal_items(service) or body["memory_type"] == "semantic"
    records = stream.read()
    for _ in range(3):
        assert deliver(records) == []
        assert deliver(stream.read()) == []
    assert counters_equal_items(service)
    assert not [each for each in service.stored() if each["sk"]["S"].startswith("x#")]
    path = "memory/namespaces/facts" if body["memory_type"] == "semantic" else "agents/admin"
    events = log(tenant.admin, path)
    assert summarize(events) == [f"created {body['key']} 1", f"expired {body['key']} 1"]
    assert events[1]["data"]["entry_id"] == made["id"]


def test_a_task_that_ends_has_one_event_for_all(
    ada: httpx.Client, tenant: Tenant, stream: Stream, deliver: Deliver
) -> None:
    boss = tenant.coordinator("boss")
    task = create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    for key in "abc":
        create(ada, working("t", key=key))
    ok(change_task(boss, task, status="completed"))
    for _ in range(2):
        assert deliver(stream.read()) == []
    types = [each["type"] for each in log(boss, "intents/i")]
    assert sorted(types) == ["memory.archived"] + ["memory.created"] * 3
    (archived,) = log(boss, "intents/i", type="memory.archived")
    assert (archived["agent_id"], archived["actor"]["id"]) == ("ada", "boss")


def test_an_event_tells_who_acted_beside_whose_memory_it_is(
    ada: httpx.Client, tenant: Tenant, stream: Stream, deliver: Deliver, clock: MovableClock
) -> None:
    boss, eve = tenant.coordinator("boss"), tenant.agent("eve")
    allow(tenant.admin, "facts", "write")
    made = create(ada, semantic())
    ok(update(eve, made["id"], 1, value={"limit": 999}))
    assert_no_content(boss.delete(f"{MEMORY}/{made['id']}"))
    create(ada, semantic(ttl="duration:PT1S"))
    clock.advance(seconds=2)
    create(eve, semantic(agent_id="ada"))
    assert deliver(stream.read()) == []
    events = log(tenant.admin, "memory/namespaces/facts")
    assert {each["agent_id"] for each in events} == {"ada"}
    assert [each["actor"] for each in events] == [
        {"id": "ada", "kind": "agent"},
        {"id": "eve", "kind": "agent"},
        {"id": "boss", "kind": "coordinator"},
        {"id": "ada", "kind": "agent"},
        {"id": "agent-memory", "kind": "service"},
        {"id": "eve", "kind": "agent"},
    ]


def test_what_expired_before_its_task_ended_is_in_no_archive(
    ada: httpx.Client, stream: Stream, deliver: Deliver, tenant: Tenant
) -> None:
    boss = tenant.coordinator("boss")
    at = create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    create(ada, working("t", key="expired", ttl="duration:PT2S"))
    create(ada, working("t", key="kept"))
    deliver(stream.read())
    tenant.service.clock.advance(seconds=2)
    ok(change_task(boss, at, status="completed"))
    (archived,) = [e for e in log(boss, "intents/i") if e["type"] == "memory.archived"]
    assert [each["key"] for each in archived["data"]["snapshot"]] == ["kept"]
    assert deliver(stream.read()) == []
    assert summarize(log(boss, "intents/i", type="memory.expired")) == ["expired expired 1"]


@pytest.mark.parametrize("brings_all", [True, False])
def test_an_archival_follows_all_events_of_its_entries(
    service: Service, stream: Stream, tenant: Tenant, clock: MovableClock, *, brings_all: bool
) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    waiting = replace(service.settings(), log_wait_seconds=0.001)
    api = HandlerTransport(App(Container(waiting, service.clock)), turns(parallel=True))
    impatient = open_client(api, boss.headers["X-API-Key"])
    at = create_task(boss, id="t", intent_id="i", assigned_agent="alice")
    create(alice, working("t", key="old"))
    clock.advance(seconds=7200)
    made = create(alice, working("t", key="k"))
    clock.advance(seconds=300)
    ok(update(alice, made["id"], 1, value={"n": 2}))
    clock.advance(seconds=7200)
    ok(change_task(impatient, at, status="completed"))
    assert (query(alice), log(boss, "intents/i")) == ([], [])
    clock.advance(seconds=120)
    assert sweep(service, log_wait_seconds=0.001)["stopped"] == 1
    if brings_all:
        records = stream.read()
        held_back = next(each for each in records if is_entry(each))
        others = [each for each in records if each is not held_back]
        assert stream_function(service)(others) == []
        assert summarize(log(boss, "intents/i")) == ["created k 1", "updated k 2"]
        assert sweep(service, log_wait_seconds=0.001)["stopped"] == 1
        assert stream_function(service)(records) == []
    else:  # after a day the stream has lost what it hasn't brought
        clock.advance(seconds=86_400)
    assert sweep(service, log_wait_seconds=0.001)["archived"] == 1
    *before, archived = log(boss, "intents/i")
    assert archived["type"] == "memory.archived"
    assert summarize(before) == (
        ["created k 1", "updated k 2", "created old 1"] if brings_all else []
    )

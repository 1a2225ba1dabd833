"""Test the daily counts of a tenant's storage and use, behind the stream."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from functions.container import Container
from tests.contract import run_calls
from tests.contract.bodies import MEMORY, create, create_task, entry, semantic, update, working
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.openwop_calls import start as start_memory_run
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import sweep
from tests.contract.transport import MovableClock

USAGE = "/api/v1/usage"
Json = dict[str, Any]


class Counting:
    """The stream, whose records are counted when a test says so."""

    def __init__(self, service: Service) -> None:
        self._stream = Stream(service)
        self._function = stream_function(service)
        self.last: list[Json] = []

    def catch_up(self) -> None:
        if records := self._stream.read():
            assert self._function(records) == []
            self.last = records

    def repeat(self) -> None:
        assert self._function(self.last) == []


@pytest.fixture
def counting(service: Service) -> Counting:
    return Counting(service)


def today(client: httpx.Client, **query: str) -> Json:
    (tenant,) = ok(client.get(USAGE, params=query))["tenants"]
    last: Json = tenant["days"][-1]
    return last


def _say(client: httpx.Client) -> None:
    said = [{"role": "user", "content": "1234567890"}] * 2
    ok(client.put("/api/v1/conversations/s", json={"user_id": "ada", "messages": said}), 201)


def _put_workflow(client: httpx.Client) -> None:
    ok(client.put("/api/v1/procedures/sdr/mail/w", json={"spec": "mine"}), 201)


def _learn(client: httpx.Client) -> None:
    fact = {"subject": "acme", "predicate": "pays", "object": "net 30"}
    ok(client.post("/api/v1/facts", json=fact), 201)


KINDS: dict[str, tuple[int, Callable[[httpx.Client], object]]] = {
    "entries": (1, lambda client: create(client, entry())),
    "facts": (1, _learn),
    "messages": (2, _say),
    "states": (1, lambda client: ok(client.put("/api/v1/agents/ada/state/b/k", json={"value": 1}))),
    "objects": (
        1,
        lambda client: ok(client.put("/api/v1/agents/ada/objects/f/k", content=b"1"), 201),
    ),
    "runs": (1, lambda client: run_calls.start(client, input="text")),
    "episodes": (1, lambda client: run_calls.append(client, run_calls.start(client), "text")),
    "procedures": (1, _put_workflow),
    "working_values": (
        1,
        lambda client: ok(client.put("/api/v1/instances/i/working/k", json={"value": 1})),
    ),
    "openwop_entries": (1, lambda client: start_memory_run(client).put("text")),
    "tasks": (1, create_task),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_stored_thing_counts(tenant: Tenant, counting: Counting, kind: str) -> None:
    count, store = KINDS[kind]
    store(tenant.agent("ada"))
    counting.catch_up()
    used = today(tenant.admin)
    assert used["items"][kind] == count
    assert used["bytes"][kind] > 0


def test_items_and_bytes_follow_each_change(tenant: Tenant, counting: Counting) -> None:
    ada = tenant.agent("ada")
    made = create(ada, semantic(namespace="agents/ada/notes", value={"text": "x" * 5_000}))
    counting.catch_up()
    assert today(tenant.admin)["items"] == {"entries": 1}
    first = today(tenant.admin)["bytes"]["entries"]
    assert first >= 5_000
    ok(update(ada, made["id"], 1, value={"text": "x" * 10_000}))
    counting.catch_up()
    assert today(tenant.admin)["bytes"]["entries"] == first + 5_000
    assert_no_content(ada.delete(f"{MEMORY}/{made['id']}"))
    counting.catch_up()
    used = today(tenant.admin)
    assert (used["items"], used["bytes"]) == ({}, {})


def test_records_that_come_twice_count_once(tenant: Tenant, counting: Counting) -> None:
    create(tenant.agent("ada"), entry())
    counting.catch_up()
    counting.repeat()
    assert today(tenant.admin)["items"] == {"entries": 1}


def test_what_goes_with_an_ended_task_counts_no_more(tenant: Tenant, counting: Counting) -> None:
    boss, ada = tenant.coordinator("boss"), tenant.agent("ada")
    create_task(boss, id="t", assigned_agent="ada")
    create(ada, working("t"))
    counting.catch_up()
    assert today(tenant.admin)["items"] == {"entries": 1, "tasks": 1}
    ok(boss.patch("/api/v1/tasks/t", json={"status": "completed"}, headers={"If-Match": "1"}))
    counting.catch_up()
    assert today(tenant.admin)["items"] == {"tasks": 1}


def test_a_day_shows_what_was_stored_at_its_end(
    tenant: Tenant, counting: Counting, clock: MovableClock
) -> None:
    ada = tenant.agent("ada")
    create(ada, entry())
    counting.catch_up()
    first = clock.time()[:10]
    clock.advance(seconds=2 * 86_400)
    create(ada, entry(key="later"))
    counting.catch_up()
    (reported,) = ok(tenant.admin.get(USAGE, params={"from": first}))["tenants"]
    assert [each["items"]["entries"] for each in reported["days"]] == [1, 1, 2]
    assert today(tenant.admin, to=first)["items"] == {"entries": 1}


def test_requests_and_units_are_counted_by_operation(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = create(ada, entry())
    for _ in range(2):
        ok(ada.get(f"{MEMORY}/{made['id']}"))
    used = today(tenant.admin)
    assert Counter(used["requests"]) >= Counter(create_entry=1, get_entry=2, create_principal=1)
    assert used["write_units"] >= 3
    assert used["read_units"] >= 2
    assert 0 < used["cost_usd"] < 0.01


def test_usage_is_for_administrators_and_the_operator(
    service: Service, tenant: Tenant, counting: Counting
) -> None:
    refused(tenant.agent("ada").get(USAGE), 403, "ACCESS_DENIED")
    create(tenant.agent("eve"), entry())
    counting.catch_up()
    reported = ok(service.root.get(USAGE))["tenants"]
    (own,) = [each for each in reported if each["tenant"] == tenant.id]
    assert own["days"][-1]["items"] == {"entries": 1}
    for query in ({"from": "2030-02-31"}, {"from": "2029-01-01", "to": "2030-01-01"}):
        invalid(tenant.admin.get(USAGE, params=query), "from")
    invalid(tenant.admin.get(USAGE, params={"to": "soon"}), "to")


def limit(tenant: Tenant, clock: MovableClock, **limits: int | None) -> None:
    """Limit a tenant, and wait until the limits hold."""
    path = f"/api/v1/tenants/{tenant.id}"
    changed = ok(tenant.service.root.patch(path, json={"limits": limits}))
    assert changed["limits"].items() >= limits.items()
    clock.advance(seconds=60)
    ok(tenant.admin.get("/api/v1/me"))


def over(response: httpx.Response, name: str) -> None:
    assert refused(response, 429, "QUOTA_EXCEEDED")["limit"] == name


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_of_items_refuses_each_kind(
    tenant: Tenant, counting: Counting, clock: MovableClock, kind: str
) -> None:
    ada = tenant.agent("ada")
    ok(ada.get("/api/v1/me"))
    run = run_calls.start(ada)
    limit(tenant, clock, items=0)
    counting.catch_up()
    store = KINDS[kind][1]
    if kind == "episodes":
        over(run_calls.try_append(ada, run["id"], "text"), "items")
    elif kind == "openwop_entries":
        answer = ada.post(f"/v1/memory/{start_memory_run(ada).reference}", json={"content": "text"})
        assert (answer.status_code, answer.json()["error"]) == (429, "quota_exceeded")
    else:
        with pytest.raises(AssertionError, match="QUOTA_EXCEEDED"):
            store(ada)
    limit(tenant, clock, items=None)
    store(ada)


def test_the_first_request_after_a_change_of_limits_is_limited(
    tenant: Tenant, counting: Counting
) -> None:
    ada = tenant.agent("ada")
    counting.catch_up()
    path = f"/api/v1/tenants/{tenant.id}"
    ok(tenant.service.root.patch(path, json={"limits": {"items": 0}}))
    over(ada.post(MEMORY, json=entry()), "items")


def test_deletions_and_changes_that_do_not_grow_go_on_over_a_limit(
    tenant: Tenant, counting: Counting, clock: MovableClock
) -> None:
    ada = tenant.agent("ada")
    made = [create(ada, entry(key=f"k{n}", value={"n": 1_000 + n})) for n in range(3)]
    counting.catch_up()
    limit(tenant, clock, items=1, bytes=10)
    assert len(ok(ada.get(f"{MEMORY}?agent_id=ada"))["entries"]) == 3
    changed = ok(update(ada, made[0]["id"], 1, value={"n": 1}))
    ok(ada.put(MEMORY, json=entry(key="k1", value={"n": 2_000})))
    over(update(ada, made[0]["id"], changed["version"], value={"n": 22}), "bytes")
    over(ada.put(MEMORY, json=entry(key="k1", value={"n": 30_000})), "bytes")
    over(ada.post(MEMORY, json=entry(key="new")), "items")
    for each in made:
        assert_no_content(ada.delete(f"{MEMORY}/{each['id']}"))
    counting.catch_up()
    clock.advance(seconds=60)
    create(ada, entry(key="new", value={}))


def test_a_limit_of_bytes_counts_large_values(
    tenant: Tenant, counting: Counting, clock: MovableClock
) -> None:
    ada = tenant.agent("ada")
    limit(tenant, clock, bytes=100_000)
    create(ada, entry(value={"text": "x" * 60_000}))
    counting.catch_up()
    clock.advance(seconds=60)
    ok(ada.get("/api/v1/me"))
    over(ada.post(MEMORY, json=entry(key="b", value={"text": "x" * 60_000})), "bytes")
    over(ada.put("/api/v1/agents/ada/objects/f/k", content=b"x" * 60_000), "bytes")
    state = {"value": "".join(map(str, range(300_000)))}
    over(ada.put("/api/v1/agents/ada/state/b/k", json=state), "bytes")
    create(ada, entry(key="small"))


def test_requests_have_a_limit_a_second(tenant: Tenant, clock: MovableClock) -> None:
    ada = tenant.agent("ada")
    limit(tenant, clock, requests_per_second=5)
    answers = [ada.get("/api/v1/me") for _ in range(20)]
    refusals = [each for each in answers if each.status_code == 429]
    assert 10 <= len(refusals) < 20
    over(refusals[0], "requests_per_second")


def test_previews_have_a_limit_a_day_and_deletions_have_none(
    tenant: Tenant, clock: MovableClock
) -> None:
    limit(tenant, clock, deletions_per_day=2)

    def delete(id: str, **fields: Any) -> httpx.Response:
        body = {"kind": "agent", "id": id} | fields
        return tenant.admin.post("/api/v1/deletions", json=body)

    for id in ("a", "b"):
        ok(delete(id, dry_run=True), 202)
    over(delete("c", dry_run=True), "deletions_per_day")
    ok(delete("c"), 202)
    clock.advance(seconds=86_400)
    ok(delete("d", dry_run=True), 202)


def test_limits_are_the_operators(tenant: Tenant, service: Service) -> None:
    path, body = f"/api/v1/tenants/{tenant.id}", {"limits": {"items": 5}}
    refused(tenant.admin.patch(path, json=body), 403, "ACCESS_DENIED")
    ok(service.root.patch(path, json=body))
    once = {"Idempotency-Key": "limits"}
    for _ in range(2):
        changed = ok(service.root.patch(path, json={"limits": {"bytes": 7}}, headers=once))
    other = service.root.patch(path, json={"limits": {"bytes": 8}}, headers=once)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    assert (changed["limits"]["items"], changed["limits"]["bytes"]) == (5, 7)
    (reported,) = ok(tenant.admin.get(USAGE))["tenants"]
    assert reported["limits"] == changed["limits"]
    for wrong in ({"items": -1}, {"things": 1}):
        assert service.root.patch(path, json={"limits": wrong}).status_code == 400
    refused(service.root.patch("/api/v1/tenants/unknown", json=body), 404, "NOT_FOUND")


def miscount(service: Service, tenant: Tenant) -> None:
    """Leave what a crash may leave: a wrong total."""
    service.engine.client.update_item(
        TableName=service.engine.memory,
        Key={"pk": {"S": f"{tenant.id}#usage"}, "sk": {"S": "total"}},
        UpdateExpression="ADD items_entries :wrong, bytes_entries :wrong, items_facts :wrong",
        ExpressionAttributeValues={":wrong": {"N": "5"}},
    )


def test_a_reconciliation_corrects_what_a_crash_left(
    service: Service, tenant: Tenant, counting: Counting
) -> None:
    ada = tenant.agent("ada")
    create(ada, entry())
    counting.catch_up()
    right = today(tenant.admin)
    reconciler = Container(service.settings(), service.clock).reconciler
    assert reconciler.run(lambda _: None)["corrected"] == 0
    miscount(service, tenant)
    assert today(tenant.admin)["items"] == {"entries": 6, "facts": 5}
    assert reconciler.run(lambda _: None)["corrected"] == 1
    used = today(tenant.admin)
    assert (used["items"], used["bytes"]) == (right["items"], right["bytes"])
    miscount(service, tenant)

    def write(_: float) -> None:
        create(ada, entry(key=f"k{service.clock()}"))
        service.clock.advance(ms=1)
        counting.catch_up()

    assert reconciler.run(write)["postponed"] == 1


def test_the_schedule_reconciles_once_a_day(
    service: Service, tenant: Tenant, counting: Counting, clock: MovableClock
) -> None:
    create(tenant.agent("ada"), entry())
    counting.catch_up()
    miscount(service, tenant)
    for seconds in (86_401, 61, 61):
        assert today(tenant.admin)["items"] == {"entries": 6, "facts": 5}
        clock.advance(seconds=seconds)
        sweep(service)
    assert today(tenant.admin)["items"] == {"entries": 1}


def test_a_person_whom_nothing_names_costs_no_scan_and_does_not_count(
    tenant: Tenant, clock: MovableClock
) -> None:
    ada = tenant.agent("ada")
    limit(tenant, clock, deletions_per_day=4)

    def delete(id: str, **fields: Any) -> httpx.Response:
        body = {"kind": "person", "id": id} | fields
        return tenant.admin.post("/api/v1/deletions", json=body)

    for number in range(5):
        assert ok(delete(f"nobody-{number}", dry_run=True), 202)["status"] == "done"
    assert ok(delete("nobody"), 202)["status"] == "done"
    assert ok(tenant.admin.get("/api/v1/deletions/person/nobody"))["status"] == "done"
    body = {"user_id": "user", "shared_with": ["reader"], "messages": []}
    ok(ada.put("/api/v1/conversations/s", json=body), 201)
    ok(ada.put("/api/v1/agents/ada/state/owner/k", json={"value": 1}))
    ok(ada.post("/api/v1/facts", json={"subject": "topic", "predicate": "p", "object": "o"}), 201)
    for known in ("user", "reader", "owner", "topic"):
        assert ok(delete(known, dry_run=True), 202)["status"] == "running"
    over(delete("ada", dry_run=True), "deletions_per_day")
    assert ok(delete("nobody-9", dry_run=True), 202)["status"] == "done"

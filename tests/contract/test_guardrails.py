"""RFC-0015 §6.6: coordinators' guardrails, on their tasks and assignees."""

from contextlib import suppress
from typing import Any

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.errors import CapacityExceeded
from tests.contract.bodies import (
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    query,
    semantic,
    task,
    working,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.faults import Killed, faulty
from tests.contract.service import Service, Tenant, names, start
from tests.contract.sweeping import sweep
from tests.contract.transport import HandlerTransport, MovableClock, open_client, turns

UNSET = {
    "max_working_memory_per_task": None,
    "max_episodic_memory_per_agent": None,
    "allowed_semantic_namespaces": None,
    "denied_semantic_namespaces": None,
    "memory_archive_required": None,
}


def path(coordinator: str = "boss") -> str:
    return f"/api/v1/coordinators/{coordinator}/guardrails"


def guard(tenant: Tenant, coordinator: str = "boss", /, **guardrails: Any) -> dict[str, Any]:
    body = {"guardrails": guardrails}
    answer: dict[str, Any] = ok(tenant.admin.patch(path(coordinator), json=body))
    return answer


def capacity(client: httpx.Client, agent: str) -> int:
    summary = ok(client.get(f"/api/v1/agents/{agent}/memory/summary"))
    return int(summary["episodic"]["capacity"])


def test_nobody_has_guardrails_at_first(tenant: Tenant) -> None:
    answer = tenant.admin.get(path())
    assert ok(answer) == {
        "coordinator_id": "boss",
        "guardrails": UNSET,
        "version": 0,
        "updated_at": None,
    }
    assert answer.headers["ETag"] == '"0"'


@pytest.mark.in_process
def test_guardrails_change_one_by_one(tenant: Tenant, clock: MovableClock) -> None:
    guard(tenant, max_working_memory_per_task=100, denied_semantic_namespaces=["x"])
    guard(tenant, max_working_memory_per_task=None, memory_archive_required=True)
    clock.advance(seconds=1)
    last = guard(tenant, allowed_semantic_namespaces=[], max_episodic_memory_per_agent=10)
    assert last["guardrails"] == {
        "max_working_memory_per_task": None,
        "max_episodic_memory_per_agent": 10,
        "allowed_semantic_namespaces": [],
        "denied_semantic_namespaces": ["x"],
        "memory_archive_required": True,
    }
    assert (last["version"], last["updated_at"]) == (3, clock.time())
    assert ok(tenant.admin.get(path())) == last


def test_if_match_is_honoured(tenant: Tenant) -> None:
    body = {"guardrails": {"max_working_memory_per_task": 1}}
    ok(tenant.admin.patch(path(), json=body, headers={"If-Match": "0"}))
    stale = tenant.admin.patch(path(), json=body, headers={"If-Match": '"0"'})
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 1


def test_malformed_guardrails_are_refused(tenant: Tenant) -> None:
    body = {"guardrails": {"max_working_memory_per_task": -1}}
    invalid(tenant.admin.patch(path(), json=body), "max_working")
    for misspelt in ("max_working_memory", "denied_namespaces"):
        refused(
            tenant.admin.patch(path(), json={"guardrails": {misspelt: 1}}), 400, "VALIDATION_ERROR"
        )
    large = {"guardrails": {"notes": "x" * 20_000}}
    refused(tenant.admin.patch(path(), json=large), 413, "VALUE_TOO_LARGE")
    assert ok(tenant.admin.get(path()))["version"] == 0


def test_other_guardrails_are_kept_and_given_back(tenant: Tenant) -> None:
    guard(tenant, max_budget_usd=5.5, allowed_agents=["a"], memory_archive_required=True)
    changed = guard(tenant, max_budget_usd=None, escalate={"after": "PT5M", "above": 10**30})
    others = {"allowed_agents": ["a"], "escalate": {"after": "PT5M", "above": 10**30}}
    assert changed["guardrails"] == UNSET | {"memory_archive_required": True} | others
    assert ok(tenant.admin.get(path())) == changed
    records = ok(tenant.admin.get("/api/v1/audit", params={"action": "guardrails.change"}))[
        "records"
    ]
    assert others["escalate"] in [record["after"].get("escalate") for record in records]


def test_a_retry_with_its_key_changes_nothing(tenant: Tenant, service: Service) -> None:
    body, key = {"guardrails": {"memory_archive_required": True}}, {"Idempotency-Key": "once"}
    first = ok(tenant.admin.patch(path(), json=body, headers=key))
    state = service.state()
    assert ok(tenant.admin.patch(path(), json=body, headers=key)) == first
    assert service.state() == state
    other = tenant.admin.patch(path(), json={"guardrails": {}}, headers=key)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    changed = ok(
        tenant.admin.patch(path(), json={"guardrails": {"max_episodic_memory_per_agent": 7}})
    )
    refused(tenant.admin.patch(path(), json=body, headers=key), 409, "VERSION_MISMATCH")
    assert ok(tenant.admin.get(path())) == changed


def fill(client: httpx.Client, task_id: str, *keys: str) -> list[int]:
    return [client.post(MEMORY, json=working(task_id, key=key)).status_code for key in keys]


def test_working_memory_is_bounded_by_the_lower_of_policy_and_guardrail(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    guard(tenant, max_working_memory_per_task=2)
    for most, fits in ((1, 1), (5, 2)):
        id = f"task_{most}"
        create_task(boss, id=id, assigned_agent="alice", memory_policy={"max_entries": most})
        statuses = fill(alice, id, *(f"{id}{number}" for number in range(4)))
        assert statuses == [201] * fits + [429] * (4 - fits)
        problem = alice.post(MEMORY, json=working(id, key=f"{id}more")).json()
        assert (problem["current_count"], problem["max_capacity"]) == (fits, fits)


def test_a_changed_guardrail_bounds_the_open_tasks(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    made = create_task(boss, id="t", assigned_agent="alice", memory_policy={"max_entries": 4})
    assert fill(alice, "t", "a", "b", "c") == [201, 201, 201]
    guard(tenant, max_working_memory_per_task=2)
    problem = refused(alice.post(MEMORY, json=working("t", key="d")), 429, "CAPACITY_EXCEEDED")
    assert (problem["current_count"], problem["max_capacity"]) == (3, 2)
    guard(tenant, max_working_memory_per_task=None)
    assert fill(alice, "t", "d", "e") == [201, 429]
    assert ok(change_task(boss, made, status="completed"))["version"] == 2  # no other's change


def test_a_policy_changed_later_stays_below_the_guardrail(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    guard(tenant, max_working_memory_per_task=2)
    made = create_task(boss, id="t", assigned_agent="alice", memory_policy={"max_entries": 1})
    ok(change_task(boss, made, memory_policy={"max_entries": 9}))
    assert fill(alice, "t", "a", "b", "c") == [201, 201, 429]


def test_an_adopted_task_comes_under_its_coordinators_guardrails(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    guard(tenant, max_working_memory_per_task=2)
    assert fill(alice, "t", "a") == [201]
    create(alice, working("t", key="b"))
    ok(boss.post(TASKS, json=task(id="t", assigned_agent="alice")), 201)
    assert fill(alice, "t", "c") == [429]


def test_a_task_keeps_its_guardrails_when_its_coordinator_changes(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    lead = tenant.coordinator("lead")
    for name in ("secret", "hidden", "open"):
        create(boss, semantic(namespace=name))
    guard(tenant, max_working_memory_per_task=2, denied_semantic_namespaces=["secret"])
    guard(tenant, "lead", max_working_memory_per_task=3, denied_semantic_namespaces=["hidden"])
    made = create_task(boss, id="t", assigned_agent="alice")
    passed = ok(change_task(boss, made, coordinator="lead"))
    assert _names(alice) == {"open"}
    assert fill(alice, "t", "a", "b", "c") == [201, 201, 429]
    guard(tenant, max_working_memory_per_task=1, memory_archive_required=True)
    assert fill(alice, "t", "d") == [429]
    guard(tenant, "lead", max_working_memory_per_task=0)
    guard(tenant, max_working_memory_per_task=9)
    assert fill(alice, "t", "d") == [429]
    guard(tenant, "lead", max_working_memory_per_task=None)
    bob = tenant.agent("bob")
    handed = ok(change_task(lead, passed, assigned_agent="bob"))
    assert (_names(alice), _names(bob)) == ({"secret", "hidden", "open"}, {"open"})
    ok(change_task(lead, handed, status="completed"))
    assert _names(bob) == {"secret", "hidden", "open"}


def _names(client: httpx.Client) -> set[str]:
    return {each["namespace"] for each in query(client, memory_type="semantic")}


def test_a_guardrail_sets_the_default_delegates_of_new_tasks(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    invalid(
        tenant.admin.patch(path(), json={"guardrails": {"delegates": "bob"}}),
        "guardrails.delegates",
    )
    shown = guard(tenant, delegates=["bob"])
    assert shown["guardrails"]["delegates"] == ["bob"]
    made = create_task(boss, id="t", assigned_agent="alice")
    assert made["delegates"] == ["bob"] == ok(boss.get(f"{TASKS}/t"))["delegates"]
    assert ok(change_task(alice, made, assigned_agent="bob"))["assigned_agent"] == "bob"
    assert create_task(boss, id="none", delegates=[])["delegates"] == []
    assert create_task(alice, id="own", intent_id="own")["delegates"] == []
    adopted = boss.post(TASKS, json=task(id="own", intent_id="own", assigned_agent="alice"))
    assert ok(adopted, 201)["delegates"] == ["bob"]
    assert "delegates" not in guard(tenant, delegates=None)["guardrails"]


def test_other_coordinators_tasks_are_not_bounded(tenant: Tenant, alice: httpx.Client) -> None:
    guard(tenant, max_working_memory_per_task=0)
    create_task(tenant.coordinator("other"), id="t", assigned_agent="alice")
    assert fill(alice, "t", "a") == [201]


def test_episodic_memory_is_bounded_by_the_lower_of_settings_and_guardrail(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, clock: MovableClock
) -> None:
    guard(tenant, max_episodic_memory_per_agent=2)
    made = create_task(boss, assigned_agent="alice")
    for key in ("a", "b", "c"):
        clock.advance(seconds=1)
        create(alice, entry(key=key))
    assert sorted(names(query(alice))) == ["b", "c"]
    config = "/api/v1/agents/alice/memory/config"
    seen = []
    for asked in (50, 1):
        body = {"episodic": {"capacity": asked}}
        assert ok(tenant.admin.patch(config, json=body))["episodic"]["capacity"] == asked
        seen.append(capacity(alice, "alice"))
    ok(tenant.admin.patch(config, json={"episodic": {"capacity": 50}}))
    ok(change_task(boss, made, status="completed"))
    assert [*seen, capacity(alice, "alice")] == [2, 1, 50]


def test_a_guardrail_removes_no_episodic_memory_and_keeps_new_entries_away(
    tenant: Tenant, service: Service, boss: httpx.Client, alice: httpx.Client
) -> None:
    made = [create(alice, entry(key=f"k{number}")) for number in range(5)]
    guard(tenant, max_episodic_memory_per_agent=2)
    create_task(boss, assigned_agent="alice")
    sweep(service)
    problem = refused(alice.post(MEMORY, json=entry(key="new")), 429, "CAPACITY_EXCEEDED")
    assert (problem["current_count"], problem["max_capacity"]) == (5, 2)
    create(alice, working(key="of another tier"))
    assert len(query(alice, memory_type="episodic")) == 5
    for each in made[:4]:
        assert_no_content(alice.delete(f"{MEMORY}/{each['id']}"))
    for key in ("new", "newer"):
        create(alice, entry(key=key))
    left = names(query(alice, memory_type="episodic"))
    assert (len(left), "newer" in left) == (2, True)


def test_settings_evict_to_their_capacity_beside_a_guardrail(
    tenant: Tenant, service: Service, boss: httpx.Client, alice: httpx.Client
) -> None:
    for number in range(5):
        create(alice, entry(key=f"k{number}"))
    guard(tenant, max_episodic_memory_per_agent=2)
    create_task(boss, assigned_agent="alice")
    config = {"episodic": {"capacity": 4}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    for _ in range(2):
        sweep(service)
    assert len(query(alice, memory_type="episodic")) == 4


def test_a_coordinator_is_bound_itself(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    made = create(boss, semantic(namespace="internal.config"))
    guard(tenant, denied_semantic_namespaces=["internal.*"], max_episodic_memory_per_agent=0)
    refused(boss.get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")
    refused(boss.post(MEMORY, json=semantic(namespace="internal.new")), 403, "ACCESS_DENIED")
    refused(boss.post(MEMORY, json=entry()), 429, "CAPACITY_EXCEEDED")
    create(boss, semantic(namespace="internally"))
    assert ok(alice.get(f"{MEMORY}/{made['id']}")) == made
    guard(tenant, denied_semantic_namespaces=None, max_episodic_memory_per_agent=None)
    assert ok(boss.get(f"{MEMORY}/{made['id']}")) == made
    create(boss, entry())


FULL = CapacityExceeded("item_size_kb", 400, 400)


@pytest.mark.in_process
@pytest.mark.parametrize(
    ("at", "error"), [(1, None), *((n, e) for n in (2, 3) for e in (None, FULL))]
)
def test_what_cannot_be_bound_now_keeps_no_other_from_it_and_follows(
    tenant: Tenant,
    service: Service,
    boss: httpx.Client,
    clock: MovableClock,
    at: int,
    error: Exception | None,
) -> None:
    agents = tenant.agents("alice", "bob")
    secret = create(tenant.admin, semantic(namespace="secrets"))
    for number, name in enumerate(("alice", "bob")):
        create_task(boss, id=f"t{number}", assigned_agent=name)
    with faulty(at, "before", error):
        handler = App(Container(service.settings(), service.clock))
    admin = open_client(
        HandlerTransport(handler, turns(parallel=True)), tenant.admin.headers["X-API-Key"]
    )
    admin.event_hooks = {}  # they take no 503
    body = {
        "guardrails": {"denied_semantic_namespaces": ["secrets"], "max_working_memory_per_task": 0}
    }
    if error is None:
        with suppress(Killed):
            admin.patch(path(), json=body)
    else:
        refused(admin.patch(path(), json=body), 503, "UNAVAILABLE")
    clock.advance(seconds=61)
    sweep(service)
    is_set = ok(tenant.admin.get(path()))["version"] == 1
    assert is_set is (at > 1)
    for number, agent in enumerate(agents):
        assert agent.get(f"{MEMORY}/{secret['id']}").status_code == (403 if is_set else 200)
        assert fill(agent, f"t{number}", f"k{number}") == [429 if is_set else 201]


@pytest.mark.in_process
def test_a_registration_reads_none_of_the_agents_other_tasks(service: Service) -> None:
    tenant = service.tenant()
    key = tenant.principal("coordinator", "boss")["api_key"]
    boss, alice = service.client(key), tenant.agent("alice")
    guard(tenant, max_episodic_memory_per_agent=7)
    create_task(boss, assigned_agent="alice")
    queries: list[bool] = []
    with faulty() as client:
        client.interrupt("query", lambda _: True, lambda: queries.append(True))
        registering = start(service.engine, service.clock, service.key_file, 0).client(key)
        create_task(registering, assigned_agent="alice")
    assert not queries
    assert capacity(alice, "alice") == 7


def _die_at_first_write(service: Service, key: str, method: str, path: str, **call: Any) -> None:
    """Has an instance of the API function die once the first write of a request is done."""
    with faulty(1, "after"):
        mortal = start(service.engine, service.clock, service.key_file, 0).client(key)
        with pytest.raises(Killed):
            mortal.request(method, path, **call)


@pytest.mark.in_process
@pytest.mark.parametrize("finish", ["the schedule", "a retry"])
@pytest.mark.parametrize("change", [{"status": "completed"}, {"assigned_agent": "bob"}])
def test_a_killed_change_of_a_task_binds_its_agents_as_a_whole_one(
    service: Service, change: dict[str, str], finish: str
) -> None:
    tenant = service.tenant()
    key = tenant.principal("coordinator", "boss")["api_key"]
    alice, bob = tenant.agents("alice", "bob")
    secret = create(tenant.admin, semantic(namespace="secrets"))
    guard(tenant, denied_semantic_namespaces=["secrets"], max_episodic_memory_per_agent=7)
    made = create_task(service.client(key), assigned_agent="alice")
    call: Any = {"json": change, "headers": {"If-Match": "1", "Idempotency-Key": "once"}}
    _die_at_first_write(service, key, "PATCH", f"{TASKS}/{made['id']}", **call)
    if finish == "a retry":
        ok(service.client(key).patch(f"{TASKS}/{made['id']}", **call))
    else:
        service.clock.advance(seconds=61)
        sweep(service)
    ok(alice.get(f"{MEMORY}/{secret['id']}"))
    assert capacity(alice, "alice") == 1000
    assert capacity(bob, "bob") == (7 if "assigned_agent" in change else 1000)


@pytest.mark.in_process
@pytest.mark.parametrize("finish", ["the schedule", "a retry"])
def test_a_killed_registration_binds_its_agent(service: Service, finish: str) -> None:
    tenant = service.tenant()
    key, alice = tenant.principal("coordinator", "boss")["api_key"], tenant.agent("alice")
    guard(tenant, max_episodic_memory_per_agent=7)
    call: Any = {"json": task(assigned_agent="alice"), "headers": {"Idempotency-Key": "once"}}
    _die_at_first_write(service, key, "POST", TASKS, **call)
    if finish == "a retry":
        ok(service.client(key).post(TASKS, **call), 201)
    else:
        create(alice, entry())
        service.clock.advance(seconds=86_400)
        sweep(service)
    assert capacity(alice, "alice") == 7

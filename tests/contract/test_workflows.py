"""RFC-0015 §7: workflow files."""

import json
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    NAMESPACES,
    TASKS,
    allow,
    change_task,
    create,
    entry,
    semantic,
    working,
)
from tests.contract.expect import ok, refused
from tests.contract.faults import Killed, faulty
from tests.contract.service import Service, Tenant, start

WORKFLOWS = "/api/v1/workflows"
ALL_PERMISSIONS = ["memory.read", "memory.write", "memory.admin"]
SEED = """\
name: quarterly-compliance
version: "1.0"

memory:
  semantic_namespaces:
    - company_policies
    - compliance_rules
    - billing_domain
  working_memory:
    archive_on_completion: true
    max_entries_per_task: 50
  episodic_memory:
    capacity_per_agent: 500
    eviction_policy: lru

agents:
  billing-agent:
    capabilities: [billing, invoicing]
    permissions: private
    episodic_memory:
      capacity: 200
      pinned_namespaces: [learned_patterns]
  data-agent:
    capabilities: [data-analysis, sql]
    permissions: private

plan:
  - task: gather-financial-data
    agent: data-agent
    memory_policy:
      archive_on_completion: true
      inherit_from_parent: false
    outputs: [financial_summary]

  - task: process-billing
    agent: billing-agent
    depends_on: [gather-financial-data]
    memory_policy:
      archive_on_completion: true
      max_entries: 100
    outputs: [billing_report]
"""
CHANGED = SEED.replace("max_entries: 100", "max_entries: 7")


def send(
    client: httpx.Client, text: str, media: str | None = "application/yaml", **headers: str
) -> httpx.Response:
    typed = {} if media is None else {"Content-Type": media}
    return client.post(WORKFLOWS, content=text.encode(), headers=typed | headers)


def test_the_specifications_file_is_applied(tenant: Tenant) -> None:
    applied = ok(send(tenant.admin, SEED))
    gather, process = applied["tasks"]
    assert (applied["name"], applied["version"]) == ("quarterly-compliance", "1.0")
    assert (applied["intent_id"], applied["ignored"]) == ("workflow:quarterly-compliance", [])
    assert applied["agents"] == [
        {
            "agent_id": "billing-agent",
            "episodic": {"capacity": 200, "pinned_namespaces": ["learned_patterns"]},
        },
        {"agent_id": "data-agent", "episodic": {"capacity": 500, "pinned_namespaces": None}},
    ]
    for task in (gather, process):
        found = ok(tenant.admin.get(f"{TASKS}/{task['id']}"))
        assert found["coordinator"] == tenant.admin_id
        assert {name: found[name] for name in task.keys() - {"depends_on"}} == {
            name: task[name] for name in task.keys() - {"depends_on"}
        }
        assert found["depends_on"] == task["depends_on"]
        assert found["semantic_namespaces"] == applied["semantic_namespaces"]
    assert gather["memory_policy"]["max_entries"] == 50
    assert process["memory_policy"]["max_entries"] == 100
    assert process["depends_on"] == [gather["id"]]
    assert [gather["assigned_agent"], process["assigned_agent"]] == ["data-agent", "billing-agent"]


PUBLISHED = """\
openintent: "1.0"
info:
  name: published
  version: "2.1"
  description: Other parts of the protocol have their own blocks.
governance:
  max_cost_usd: 50
types:
  Invoice: {total: number}
llm: {provider: none}
memory:
  semantic_namespaces: [rules]
agents:
  reader:
    description: Reads invoices.
    default_permission: write
plan:
  - task: read
    agent: reader
    description: Reads what came in.
    timeout_seconds: 60
    constraints: [be quick]
    metadata: {team: billing}
    outputs: {invoices: list}
workflow:
  extraction: {assign: reader, outputs: [text]}
"""


def test_a_file_may_have_parts_of_other_specifications(tenant: Tenant) -> None:
    applied = ok(send(tenant.admin, PUBLISHED))
    assert (applied["name"], applied["version"]) == ("published", "2.1")
    assert applied["semantic_namespaces"] == ["rules"]
    assert applied["ignored"] == [
        "openintent",
        "governance",
        "types",
        "llm",
        "workflow",
        "agents.reader.description",
        "agents.reader.default_permission",
        "plan.0.constraints",
    ]
    (planned,) = applied["tasks"]
    task = ok(tenant.admin.get(f"{TASKS}/{planned['id']}"))
    assert (task["description"], task["timeout_seconds"]) == ("Reads what came in.", 60)
    assert task["metadata"] == {
        "team": "billing",
        "workflow": "published",
        "workflow_version": "2.1",
        "outputs": {"invoices": "list"},
    }
    assert ok(send(tenant.admin, PUBLISHED)) == applied


def test_tasks_and_settings_of_a_workflow_hold(tenant: Tenant) -> None:
    _, process = ok(send(tenant.admin, SEED))["tasks"]
    agent = tenant.agent("billing-agent")
    create(tenant.admin, semantic(namespace="billing_domain"))
    pinned = create(agent, entry(namespace="learned_patterns"))
    create(agent, working(process["id"], key="w"))
    packed = ok(agent.get(f"{TASKS}/{process['id']}/context"))
    found = {name: len(packed[name]) for name in ("working", "episodic", "semantic")}
    assert found == {"working": 1, "episodic": 1, "semantic": 1}
    assert pinned["pinned"]
    assert (
        ok(agent.get("/api/v1/agents/billing-agent/memory/summary"))["episodic"]["capacity"] == 200
    )
    names = [each["namespace"] for each in ok(agent.get(NAMESPACES))["namespaces"]]
    assert sorted(names) == ["billing_domain", "company_policies", "compliance_rules"]
    refused(agent.post(MEMORY, json=semantic(namespace="billing_domain")), 403, "ACCESS_DENIED")


def test_the_same_file_twice_changes_nothing(tenant: Tenant, service: Service) -> None:
    first = ok(send(tenant.admin, SEED))
    state = service.state()
    assert ok(send(tenant.admin, SEED)) == first
    assert ok(send(tenant.admin, SEED.replace("\n\n", "\n# said again\n"))) == first
    assert service.state() == state


@pytest.mark.parametrize("text", [SEED, CHANGED])
def test_a_file_may_be_applied_twice_at_once(service: Service, text: str) -> None:
    key = service.tenant().principal("user", "lead", permissions=ALL_PERMISSIONS)["api_key"]
    lead = service.client(key)
    ok(send(lead, SEED)) if text == CHANGED else None
    answers: list[Any] = []
    with faulty() as client:
        applying = start(service.engine, service.clock, service.key_file, 0).client(key)
        client.interrupt(
            "transact_write_items",
            lambda _: True,
            lambda: answers.append(ok(send(lead, text))),
        )
        answers.append(ok(send(applying, text)))
    assert answers[0] == answers[1]
    tasks = ok(lead.get("/api/v1/intents/workflow:quarterly-compliance/tasks"))
    assert sorted(each["version"] for each in tasks) == [1, 2 if text == CHANGED else 1]


def test_of_two_files_at_once_one_is_applied_as_a_whole(service: Service) -> None:
    key = service.tenant().principal("user", "lead", permissions=ALL_PERMISSIONS)["api_key"]
    lead, other = service.client(key), SEED.replace("max_entries: 100", "max_entries: 8")
    ok(send(lead, SEED))
    with faulty() as client:
        applying = start(service.engine, service.clock, service.key_file, 0).client(key)
        client.interrupt("transact_write_items", _is_finish, lambda: ok(send(lead, other)))
        ok(send(applying, CHANGED))
    for text, most in ((CHANGED, 7), (other, 8)):
        step = ok(send(lead, text))["tasks"][1]
        assert ok(lead.get(f"{TASKS}/{step['id']}"))["memory_policy"]["max_entries"] == most


def test_a_file_that_a_crash_cut_off_hides_no_other(service: Service) -> None:
    key = service.tenant().principal("user", "lead", permissions=ALL_PERMISSIONS)["api_key"]
    lead = service.client(key)
    step = ok(send(lead, SEED))["tasks"][1]
    with faulty() as client:
        applying = start(service.engine, service.clock, service.key_file, 0).client(key)
        client.interrupt("transact_write_items", _is_finish, _die)
        with pytest.raises(Killed):
            send(applying, CHANGED)
    ok(send(lead, SEED))
    assert ok(lead.get(f"{TASKS}/{step['id']}"))["memory_policy"]["max_entries"] == 100


def _is_finish(request: dict[str, Any]) -> bool:
    return any("digest" in each.get("Put", {}).get("Item", {}) for each in request["TransactItems"])


def _die() -> None:
    raise Killed


def test_json_is_applied_like_yaml(tenant: Tenant) -> None:
    asked = {"name": "w", "plan": [{"task": "a", "agent": "alice"}], "version": 2}
    text = json.dumps(asked)
    answers = [
        ok(tenant.admin.post(WORKFLOWS, json=asked)),
        ok(send(tenant.admin, text, None)),
        ok(send(tenant.admin, text)),
        ok(send(tenant.admin, "name: w\nversion: 2\nplan: [{task: a, agent: alice}]", None)),
    ]
    assert answers == answers[:1] * 4
    assert answers[0]["version"] == "2"


def test_changes_since_the_last_file_are_kept(tenant: Tenant) -> None:
    gather, process = ok(send(tenant.admin, SEED))["tasks"]
    running = ok(tenant.admin.get(f"{TASKS}/{gather['id']}"))
    moved = ok(change_task(tenant.admin, running, assigned_agent="stand-in"))
    other = ok(tenant.admin.get(f"{TASKS}/{process['id']}"))
    ended = ok(change_task(tenant.admin, other, status="completed"))
    ok(send(tenant.admin, SEED))
    assert ok(tenant.admin.get(f"{TASKS}/{gather['id']}")) == moved
    ok(send(tenant.admin, CHANGED))
    assert (
        ok(tenant.admin.get(f"{TASKS}/{process['id']}"))["memory_policy"] == ended["memory_policy"]
    )


def test_a_changed_file_changes_its_tasks_and_agents(tenant: Tenant) -> None:
    first = ok(send(tenant.admin, SEED))
    changed = SEED.replace("max_entries: 100", "max_entries: 7").replace(
        "capacity: 200", "capacity: 9"
    )
    second = ok(send(tenant.admin, changed))
    assert [each["id"] for each in first["tasks"]] == [each["id"] for each in second["tasks"]]
    found = [ok(tenant.admin.get(f"{TASKS}/{each['id']}")) for each in second["tasks"]]
    assert [each["memory_policy"]["max_entries"] for each in found] == [50, 7]
    assert [each["version"] for each in found] == [1, 2]
    assert ok(send(tenant.admin, SEED)) == first


def test_a_configured_namespace_keeps_its_permissions(tenant: Tenant) -> None:
    carla = tenant.user("carla")
    before = allow(tenant.admin, "kept", "read", carla="write")
    ok(send(tenant.admin, "name: w\nmemory: {semantic_namespaces: [kept, new]}"))
    assert ok(carla.get(f"{NAMESPACES}/kept")) == before
    made = ok(carla.get(f"{NAMESPACES}/new"))["permissions"]
    allowed = [{"agent": tenant.admin_id, "access": "write"}]
    assert made == {"default": "read", "allow": allowed}


def test_the_intent_of_somebody_else_is_refused(tenant: Tenant, service: Service) -> None:
    create(tenant.user("bob"), entry(scope={"intent_id": "workflow:quarterly-compliance"}))
    state = service.state()
    refused(send(tenant.admin, SEED), 403, "ACCESS_DENIED")
    assert service.state() == state


def test_nobody_registers_a_step_beforehand(
    tenant: Tenant, service: Service, subtests: pytest.Subtests
) -> None:
    elsewhere = service.tenant()
    known = ok(send(elsewhere.admin, SEED))["tasks"]
    mallory = tenant.agent("mallory")
    intent = "workflow:quarterly-compliance"
    for task, status in zip(known, ("completed", "running"), strict=True):
        early = {"id": task["id"], "intent_id": intent, "status": status}
        ok(mallory.post(TASKS, json=early), 201)
    applied = ok(send(tenant.admin, SEED))["tasks"]
    for task in applied:
        with subtests.test(task["name"]):
            found = ok(tenant.admin.get(f"{TASKS}/{task['id']}"))
            assert found["coordinator"] == tenant.admin_id
            assert (found["assigned_agent"], found["status"]) == (task["assigned_agent"], "pending")
    assert ok(mallory.get("/api/v1/agents/data-agent/tasks")) == []


def test_a_step_with_another_coordinator_is_a_conflict(tenant: Tenant, service: Service) -> None:
    lead = tenant.coordinator("lead", permissions=["memory.read", "memory.write", "memory.admin"])
    ok(send(lead, SEED))
    owner = "/api/v1/intents/workflow:quarterly-compliance/owner"
    ok(tenant.admin.put(owner, json={"principal": tenant.admin_id}))
    state = service.state()
    refused(send(tenant.admin, CHANGED), 409, "ENTRY_EXISTS")
    assert service.state() == state


def test_an_idempotency_key_is_for_one_file(tenant: Tenant) -> None:
    key = {"Idempotency-Key": "once"}
    first = ok(send(tenant.admin, SEED, **key))
    assert ok(send(tenant.admin, SEED, **key)) == first
    other = send(tenant.admin, SEED.replace("200", "201"), **key)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")


def wrong(client: httpx.Client, text: str, media: str | None = "application/yaml") -> list[str]:
    """Each error of a file that must be refused: field and message."""
    errors = refused(send(client, text, media), 400, "VALIDATION_ERROR")["errors"]
    return [f"{each['field']}: {each['message']}" for each in errors]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("name: w\nmemroy: {}", 2, "memroy"),
        ("name: w\nplan:\n- task: a\n- task: a", 4, "plan.1.task"),
        ("name: w\nplan: [", 2, "body"),
    ],
)
def test_an_error_names_its_line(tenant: Tenant, text: str, line: int, says: str) -> None:
    errors = wrong(tenant.admin, text)
    assert any(f"line {line}: " in each and says in each for each in errors), errors


@pytest.mark.parametrize(
    ("text", "media"),
    [
        ("", "application/yaml"),
        ("{", "application/json"),
        ("name: w\nplan: [null]", "text/plain"),
    ],
)
def test_a_malformed_file_is_refused(
    tenant: Tenant, service: Service, text: str, media: str
) -> None:
    state = service.state()
    assert wrong(tenant.admin, text, media)
    assert service.state() == state


@pytest.mark.in_process
def test_a_file_that_is_no_text_or_too_large_is_refused(tenant: Tenant) -> None:
    answer = tenant.admin.post(
        WORKFLOWS, content=b"name: \xff", headers={"Content-Type": "text/yaml"}
    )
    refused(answer, 400, "VALIDATION_ERROR")
    large = send(tenant.admin, "name: w\n#" + "x" * 262_144)
    assert refused(large, 413, "BODY_TOO_LARGE")["max"] == 262_144

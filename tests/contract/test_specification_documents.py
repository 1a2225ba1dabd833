"""The documents of RFC-0015 are taken, and given, as they are printed there."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, NAMESPACES, TASKS, create, create_task, patch
from tests.contract.expect import ok
from tests.contract.service import Tenant

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
Json = dict[str, Any]
ENTRY: Json = {  # §1
    "id": "mem_01HXYZ",
    "agent_id": "agent_billing_01",
    "namespace": "invoice_processing",
    "key": "batch_progress",
    "value": {"total": 47, "completed": 23, "last_id": "inv_789", "errors": []},
    "memory_type": "working",
    "scope": {"task_id": "task_01HXYZ", "intent_id": "intent_01HABC"},
    "tags": ["batch", "invoices", "in-progress"],
    "ttl": "task_lifetime",
    "version": 1,
    "created_at": "2026-02-08T10:00:00Z",
    "updated_at": "2026-02-08T10:30:00Z",
    "expires_at": None,
}
REFERENCE: Json = {  # §1.3
    "namespace": "data_processing",
    "key": "large_dataset_ref",
    "value": {
        "attachment_id": "att_01HXYZ",
        "summary": "47,000 row customer export",
        "row_count": 47000,
    },
    "memory_type": "working",
    "tags": ["dataset", "reference"],
}
EPISODE: Json = {  # §2.2
    "namespace": "learned_patterns",
    "key": "stripe_thursdays",
    "value": {
        "observation": "Stripe API returns elevated 500 rates on Thursdays",
        "confidence": 0.85,
        "sample_size": 12,
        "first_observed": "2026-01-15",
        "last_observed": "2026-02-06",
        "recommended_action": "schedule_retry_with_backoff",
    },
    "memory_type": "episodic",
    "tags": ["stripe", "reliability", "temporal-pattern"],
    "pinned": False,
    "priority": "normal",
}
POLICY: Json = {  # §2.3
    "namespace": "company_policies",
    "key": "charge_approval_threshold",
    "value": {
        "rule": "Charges exceeding $10,000 require manager approval",
        "threshold_usd": 10000,
        "approval_role": "manager",
        "effective_date": "2025-06-01",
        "source": "finance_policy_v3.2",
    },
    "memory_type": "semantic",
    "tags": ["policy", "billing", "approval", "threshold"],
    "curated_by": "user_01HABC",
    "version": 3,
}
PERMISSIONS: Json = {  # §2.3
    "namespace": "company_policies",
    "permissions": {
        "default": "read",
        "allow": [
            {"agent": "agent_policy_curator", "access": "write"},
            {"agent": "coordinator_01", "access": "write"},
        ],
    },
}
UPDATE: Json = {  # §3.2
    "value": {"total": 47, "completed": 24, "last_id": "inv_790"},
    "tags": ["batch", "invoices", "in-progress"],
}
TASK: Json = {  # §6.5
    "task_id": "task_01HXYZ",
    "memory_policy": {
        "archive_on_completion": True,
        "inherit_from_parent": False,
        "max_entries": 100,
        "max_total_size_kb": 1024,
    },
}
GUARDRAILS: Json = {  # §6.6
    "guardrails": {
        "max_working_memory_per_task": 100,
        "max_episodic_memory_per_agent": 1000,
        "allowed_semantic_namespaces": ["company_policies", "domain_knowledge"],
        "denied_semantic_namespaces": ["internal_config"],
        "memory_archive_required": True,
    }
}
RESUMED: Json = {  # §8.2
    "namespace": "invoice_processing",
    "key": "batch_progress",
    "value": {"total": 47, "completed": 24, "last_id": "inv_790", "resumed_from": "mem_01HXYZ"},
    "memory_type": "working",
    "scope": {"task_id": "task_01HXYZ"},
    "tags": ["batch", "invoices", "in-progress", "resumed"],
    "created_by": "agent_billing_02",
}


@pytest.fixture
def boss(tenant: Tenant) -> httpx.Client:
    """The coordinator of the task, with permission to set guardrails and namespaces."""
    permissions = ["memory.read", "memory.write", "memory.admin"]
    boss = tenant.coordinator("coordinator_01", permissions=permissions)
    create_task(
        boss, id="task_01HXYZ", intent_id="intent_01HABC", assigned_agent="agent_billing_01"
    )
    return boss


@pytest.fixture
def billing(tenant: Tenant) -> httpx.Client:
    """The agent whose memory it is."""
    return tenant.agent("agent_billing_01")


@pytest.mark.parametrize("document", [ENTRY, REFERENCE, EPISODE, POLICY, RESUMED])
def test_an_entry_is_created(tenant: Tenant, boss: httpx.Client, document: Json) -> None:
    ok(patch(boss, f"{TASKS}/task_01HXYZ", 1, {"assigned_agent": "agent_billing_02"}))
    creators = {"working": "agent_billing_02", "semantic": "user_01HABC"}
    agent = creators.get(document["memory_type"], "agent_billing_01")
    creator = tenant.user(agent) if agent.startswith("user") else tenant.agent(agent)
    made = create(creator, document | ({"agent_id": agent} if "agent_id" in document else {}))
    assert made["version"] == 1
    assert {name: made[name] for name in ("namespace", "key", "value", "tags", "memory_type")} == {
        name: document[name] for name in ("namespace", "key", "value", "tags", "memory_type")
    }


def test_permissions_policies_and_guardrails_are_set(boss: httpx.Client) -> None:
    company = f"{NAMESPACES}/company_policies"
    assert ok(boss.patch(company, json=PERMISSIONS))["permissions"] == PERMISSIONS["permissions"]
    task = ok(patch(boss, f"{TASKS}/task_01HXYZ", 1, TASK))
    assert task["memory_policy"] == TASK["memory_policy"]
    path = "/api/v1/coordinators/coordinator_01/guardrails"
    assert ok(boss.patch(path, json=GUARDRAILS))["guardrails"] == GUARDRAILS["guardrails"]


def test_answers_and_events_have_the_printed_members(
    boss: httpx.Client, billing: httpx.Client
) -> None:
    made = create(billing, ENTRY)
    assert made.keys() >= ENTRY.keys()
    for version in (1, 2):
        updated = ok(patch(billing, f"{MEMORY}/{made['id']}", version, UPDATE))
    assert updated["version"] == 3
    query = {"scope.task_id": "task_01HXYZ", "memory_type": "working"}
    page = ok(billing.get(MEMORY, params=query))
    assert page == {"entries": [updated], "total": 1, "limit": 100, "offset": 0}
    summary = ok(billing.get("/api/v1/agents/agent_billing_01/memory/summary"))
    assert summary.keys() >= {"agent_id", "working", "episodic", "semantic_namespaces_accessible"}
    assert summary["working"] == {
        "entry_count": 1,
        "total_size_kb": 1,
        "tasks_with_memory": ["task_01HXYZ"],
    }
    assert summary["episodic"].keys() >= {
        "entry_count",
        "capacity",
        "pinned_count",
        "total_size_kb",
        "oldest_entry",
        "newest_entry",
    }
    ok(patch(boss, f"{TASKS}/task_01HXYZ", 1, {"status": "completed"}))
    (archived,) = ok(boss.get("/api/v1/intents/intent_01HABC/events"))["events"]
    assert {name: archived[name] for name in ("type", "intent_id", "task_id", "agent_id")} == {
        "type": "memory.archived",
        "intent_id": "intent_01HABC",
        "task_id": "task_01HXYZ",
        "agent_id": "agent_billing_01",
    }
    assert archived["data"]["entries_archived"] == 1
    (line,) = archived["data"]["snapshot"]
    assert (
        line.items()
        >= {"namespace": "invoice_processing", "key": "batch_progress", **UPDATE}.items()
    )

"""Each case of `events/http/` through the API function: the cloud's own requests.

A case names its caller as `{{key of …}}` and the entry it is about as `{{id of …}}`; the stage
below has both.
"""

import base64
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from functions.api.app import App
from functions.api.route_index import list_routes
from functions.api.routing import Router
from functions.container import Container
from functions.local.gateway import to_event
from functions.platform.errors import MethodNotAllowed, NotFound
from functions.platform.settings import ApiSettings
from tests.contract import conversation_calls, run_calls
from tests.contract.bodies import MEMORY, TASKS, create, create_task, grant
from tests.contract.documented_schemas import check_document
from tests.contract.expect import ok
from tests.contract.openwop_calls import start
from tests.contract.service import ROOT_KEY, Service, Tenant
from tests.contract.sweeping import restore
from tests.contract.transport import BASE_URL, Handler, LambdaContext, check_common_rules
from tools.events import load_http_cases, render_http_event

pytestmark = pytest.mark.in_process

_AT_AWS = ("accountId", "apiId", "domainPrefix", "requestId", "time", "timeEpoch")

PROGRESS = {"total": 47, "completed": 23, "last_id": "inv_789"}
WHERE = {"agent_id": "agent_billing_01", "scope": {"task_id": "task_01HXYZ"}}
MADE = WHERE | {"id": ..., "key": "retry_state", "ttl": "task_lifetime", "version": 1}
KEPT = WHERE | {"key": "batch_progress", "value": PROGRESS, "version": 1}
PAGE = {"entries": [KEPT], "total": 1, "limit": 100, "offset": 0}
IN_THE_WAY = {"current": KEPT, "current_version": 1}
TASK = {"id": "task_01HXYZ", "coordinator": "coordinator_01", "assigned_agent": "agent_billing_01"}
CURATOR = {"agent": "coordinator_01", "access": "write"}
POLICIES = {"namespace": "company_policies", "permissions": {"default": "read", "allow": [CURATOR]}}
PREFERENCE = {"content": "Prefers e-mail", "tags": ["source:session"]}
SUMMARY = {
    "agent_id": "agent_billing_01",
    "working": {"entry_count": 1, "total_size_kb": 1, "tasks_with_memory": ["task_01HXYZ"]},
    "episodic": {"entry_count": 0, "capacity": 1000, "oldest_entry": None},
    "semantic_namespaces_accessible": ["company_policies"],
}


def invalid(*fields: str) -> tuple[int, Any]:
    """The answer that names exactly these fields."""
    return 400, {"code": "VALIDATION_ERROR", "errors": [{"field": field} for field in fields]}


ANSWERS: dict[str, tuple[int, Any]] = {
    "create-entry": (201, MADE),
    "create-entry-once": (201, MADE),
    "remember": (201, {"namespace": "agents/agent_billing_01/memory", "memory_type": "semantic"}),
    "forget-user": (403, {"code": "ACCESS_DENIED"}),
    "create-entry-base64": (201, MADE),
    "create-entry-taken": (409, IN_THE_WAY | {"code": "ENTRY_EXISTS"}),
    "create-semantic-entry": (201, {"curated_by": "coordinator_01", "version": 1}),
    "create-sensitive-entry": (201, {"sensitivity": "restricted", "value": {"iban": ...}}),
    "put-entry": (200, {"key": "batch_progress", "version": 2, "value": {"completed": 25}}),
    "get-entry": (200, KEPT),
    "get-entry-unchanged": (304, None),
    "get-entry-of-another": (403, {"code": "ACCESS_DENIED"}),
    "get-entry-unknown": (404, {"code": "ENTRY_NOT_FOUND"}),
    "list-versions": (200, {"versions": [{"version": 1, "value": {"completed": 23}}]}),
    "restore-version": (200, {"version": 2, "value": {"completed": 23}}),
    "remove-history": (204, None),
    "change-entry": (200, {"key": "batch_progress", "version": 2, "value": {"completed": 24}}),
    "change-entry-conflict": (409, IN_THE_WAY | {"code": "VERSION_MISMATCH"}),
    "change-entry-unconditionally": (428, {"code": "PRECONDITION_REQUIRED"}),
    "delete-entry": (204, None),
    "query-entries": (200, PAGE),
    "query-task": (200, PAGE),
    "search-entries": (200, {"results": [{"entry": KEPT, "matched": ["invoices"]}]}),
    "recall": (200, {"tokenizer": ..., "skipped_sources": []}),
    "get-recalled-unknown": (404, {"code": "ENTRY_NOT_FOUND"}),
    "list-answers": (200, {"answers": [], "limit": 5, "offset": 0, "total": 0}),
    "list-agent-memory": (200, [KEPT]),
    "list-eviction-order": (200, {"entries": [], "limit": 10}),
    "summarize-agent": (200, SUMMARY),
    "write-batch": (200, {"entries": [MADE, {"version": 2, "tags": ["batch", "done"]}]}),
    "write-batch-conflict": (409, IN_THE_WAY | {"code": "VERSION_MISMATCH", "index": 1}),
    "delete-batch": (200, {"deleted": 1}),
    "list-namespaces": (200, {"namespaces": [POLICIES], "total": 1}),
    "get-namespace": (200, POLICIES | {"version": 1}),
    "configure-namespace": (200, {"permissions": {"allow": [{"agent": ...}, CURATOR]}}),
    "register-task": (201, {"id": "task_01HNEW", "memory_policy": {"max_entries": 50}}),
    "get-task": (200, TASK),
    "get-task-by-odd-name": (200, {"id": "Q3/Umsätze 100%"}),
    "change-task": (200, TASK | {"status": "running", "version": 2, "started_at": ...}),
    "hand-task-over": (200, {"assigned_agent": "agent_data_01", "version": 2}),
    "list-agent-tasks": (200, [{"id": "Q3/Umsätze 100%"}, TASK]),
    "list-tasks": (200, [{"id": "Q3/Umsätze 100%"}, TASK]),
    "read-intent-log": (200, {"events": [], "next": "0"}),
    "read-agent-log": (200, {"events": [], "next": "0"}),
    "read-namespace-log": (200, {"events": [], "next": "0"}),
    "grant-access": (200, {"principal": "agent_data_01", "access": "read", "expires_at": None}),
    "list-grants": (200, {"grants": [{"principal": "agent_audit_01", "granted_by": ...}]}),
    "revoke-access": (204, None),
    "get-acl": (200, {"owner": "coordinator_01", "entries": []}),
    "set-acl": (200, {"entries": [{"principal": "agent_data_01", "access": "write"}]}),
    "list-intents": (200, {"intents": [{"intent_id": "intent_01HABC"}], "total": 1}),
    "explain-access": (200, {"read": {"allowed": True, "rule": "assignee of the task"}}),
    "set-intent-owner": (200, {"owner": "coordinator_01", "entries": []}),
    "configure-agent": (200, {"episodic": {"capacity": 200}}),
    "get-agent-settings": (200, {"working": {"max_entries": 100, "max_total_size_kb": 1024}}),
    "get-guardrails": (200, {"guardrails": ...}),
    "set-guardrails": (200, {"guardrails": {"max_working_memory_per_task": 50}}),
    "get-task-context": (200, {"task_id": "task_01HXYZ", "working": [KEPT]}),
    "apply-workflow": (200, {"name": "quarterly-compliance"}),
    "create-tenant": (201, {"id": "globex", "admin": {"kind": "user", "api_key": ...}}),
    "create-admin": (201, {"id": "rescue", "api_key": ...}),
    "change-tenant": (200, {"id": "acme", "limits": {"items": 100_000}}),
    "grant-permissions": (200, {"permissions": ["memory.admin", "memory.inspect"]}),
    "create-principal": (201, {"api_key": ..., "expires_at": "2036-01-01T00:00:00.000Z"}),
    "who-am-i": (200, {"id": "agent_data_01", "kind": "agent", "tenant": ...}),
    "list-principals": (200, {"principals": [{"id": ..., "kind": ...}] * 5, "total": 5}),
    "change-principal": (200, {"id": "agent_data_01", "agent_type": "data"}),
    "report-usage": (200, {"tenants": [{"days": ...}]}),
    "read-audit-log": (200, {"records": [{"action": "tenant.create", "actor": {"id": "root"}}]}),
    "rotate-key": (200, {"id": "agent_data_01", "api_key": ...}),
    "revoke-principal": (204, None),
    "delete-tenant": (202, {"kind": "tenant", "id": "acme-trial", "counts": {"principal": 1}}),
    "get-tenant-deletion": (200, {"kind": "tenant", "requested_by": {"id": "root"}}),
    "delete-agent": (202, {"kind": "agent", "id": "agent_audit_01", "finished_at": None}),
    "get-person-deletion": (200, {"kind": "person", "dry_run": True, "status": "running"}),
    "root": (200, {"openapi": "/openapi.json"}),
    "root-in-a-browser": (302, None),
    "list-agents": (200, {"agents": [{"agent_id": "agent_billing_01"}]}),
    "health": (200, {"status": "ok"}),
    "capabilities": (200, {"memory": {"limits": {"value_bytes": 65_536}}}),
    "openintent": (200, {"openApiUrl": "/openapi.json"}),
    "openwop": (200, {"capabilities": ...}),
    "start-run": (201, {"runId": ..., "memoryRef": ..., "snapshotAt": ...}),
    "end-run": (200, {"ended": True}),
    "replay-run": (201, {"runId": ..., "memoryRef": ...}),
    "list-memory-runs": (200, {"limit": 10}),
    "name-memory": (200, {"memoryRef": ...}),
    "list-memories": (200, {"memories": [{"agent": "planner", "principal": "agent_billing_01"}]}),
    "get-run-state": (200, {"state": "open", "secrets": ["stripe"]}),
    "list-seen-entries": (200, {"entries": [{"content": ..., "putBy": "agent_billing_01"}]}),
    "add-run-secrets": (200, {"secrets": ["stripe", "mail"]}),
    "delete-run": (204, None),
    "list-memory": (200, {"entries": [PREFERENCE]}),
    "get-memory-entry": (200, {"entry": PREFERENCE}),
    "put-memory-entry": (201, {"content": "Paid with <REDACTED:stripe>", "createdAt": ...}),
    "delete-memory-entry": (200, {"deleted": True}),
    "forged-memory-reference": (403, {"error": "forbidden"}),
    "store-conversation": (201, {"session_id": "session_42", "message_count": 1}),
    "get-conversation": (200, {"messages": [{"index": 1, "content": "Hello"}]}),
    "append-messages": (201, {"message_count": 4, "messages": [{"index": 2}, {"index": 3}]}),
    "search-conversations": (200, {"skipped_sources": []}),
    "change-conversation": (200, {"tags": ["invoices"], "message_count": 2, "revision": 2}),
    "redact-message": (200, {"index": 0, "content": "[redacted]", "revision": 2}),
    "remove-messages": (200, {"removed": 1, "message_count": 1, "revision": 2}),
    "begin-upload": (201, {"session_id": "session_41", "message_count": 0}),
    "upload-messages-too-late": (404, {"code": "NOT_FOUND"}),
    "append-message-to-anothers": (403, {"code": "ACCESS_DENIED"}),
    "pop-message": (200, {"message_count": 1, "message": {"index": 1, "content": "Hello"}}),
    "delete-conversation": (204, None),
    "list-conversations": (200, {"conversations": [{"message_count": 2}], "total": 1}),
    "list-user-conversations": (200, {"conversations": [{"message_count": 2}], "total": 1}),
    "read-archived-conversation": (404, {"code": "NOT_FOUND"}),
    "delete-archived-conversation": (404, {"code": "NOT_FOUND"}),
    "put-state": (200, {"key": "tone", "value": "formal", "version": 1}),
    "get-state": (200, {"key": "language", "value": "de"}),
    "delete-state": (204, None),
    "list-states": (200, {"states": {}, "total": 0}),
    "list-agent-states": (200, {"states": [{"owner_id": "user_7", "key": "language"}]}),
    "learn-facts": (200, {"facts": [{"object": "14 days"}, {"object": "email"}]}),
    "learn-fact": (201, {"object": "net 30", "confidence": 0.9, "version": 1}),
    "recall-facts": (200, {"facts": [{"fact_id": "acme-terms", "score": ...}]}),
    "list-predicates": (200, {"predicates": []}),
    "declare-predicate": (200, {"predicate": "pays", "single_valued": True}),
    "list-chain": (200, {"facts": [{"fact_id": "acme-terms", "valid_until": None}]}),
    "get-fact": (200, {"fact_id": "acme-terms", "object": "net 60"}),
    "list-facts": (200, {"facts": [{"fact_id": "acme-terms"}], "total": 1}),
    "forget-facts": (200, {"deleted": 1}),
    "forget-fact": (204, None),
    "preview-consolidation": (200, {"merged": [], "ended": [], "weakened": [], "examined": 1}),
    "start-consolidation": (202, {"status": "running"}),
    "get-consolidation-settings": (200, {"every": "P7D", "decay_after": "P90D", "end_below": 0.2}),
    "put-consolidation-settings": (200, {"every": "P1D", "last_run": ...}),
    "get-consolidation": (200, {"status": "running", "merged": [], "examined": 0}),
    "undo-consolidation": (200, {"status": "undone"}),
    "put-strategy": (201, {"name": "summaries", "trigger": {"messages": 10, "idle": "PT5M"}}),
    "get-strategy": (200, {"name": "facts", "kind": "facts", "version": 1}),
    "list-strategies": (200, {"strategies": [{"name": "facts"}]}),
    "get-strategy-status": (200, {"model": None, "learned": 0, "budget": {"tokens": 0}}),
    "delete-strategy": (204, None),
    "put-workflow": (201, {"workflow_id": "by-customer", "alpha": 1, "beta": 1, "version": 1}),
    "get-workflow": (200, {"workflow_id": "by-date", "spec": ["sort", "match"], "alpha": 2}),
    "delete-workflow": (204, None),
    "list-task-types": (200, {"task_types": [{"task_type": "reconcile", "workflows": 1}]}),
    "list-workflows": (200, {"procedures": [{"workflow_id": "by-date"}], "total": 1}),
    "select-workflow": (200, {"workflow_id": "by-date", "sampled": ...}),
    "report-outcome": (200, {"alpha": 2.75, "beta": 1.25, "outcomes": 2}),
    "put-working-value": (200, {"key": "draft", "value": {"to": "ada"}}),
    "get-working-value": (200, {"instance_id": "billing-7", "value": "inv_789"}),
    "delete-working-value": (204, None),
    "list-working-values": (200, {"values": {"current_invoice": "inv_789"}, "total_bytes": 24}),
    "begin-run": (201, {"agent_type": "sdr", "status": "running", "input": {"lead": 7}}),
    "get-run": (200, {"agent_type": "sdr", "status": "running"}),
    "list-runs": (200, {"runs": [{"agent_type": "sdr"}], "total": 1}),
    "list-agent-types": (200, {"agent_types": [{"agent_type": "sdr"}, {"agent_type": "billing"}]}),
    "delete-recorded-run": (204, None),
    "delete-runs": (200, {"deleted": 1}),
    "delete-episode": (204, None),
    "complete-run": (200, {"status": "completed", "output": {"sent": True}, "version": 2}),
    "fail-run": (200, {"status": "failed", "error": "no answer"}),
    "append-episode": (201, {"content": "Asked for a price", "turn": 2}),
    "recall-episodes": (200, {"episodes": [{"content": "Opened with ROI"}], "limit": 10}),
    "put-object": (201, {"key": "letters/2.txt", "size": 8, "metadata": {"language": "de"}}),
    "put-object-base64": (201, {"key": "logo.png", "size": 8, "content_type": "image/png"}),
    "get-object": (200, "RGVhciBCb2I="),
    "get-object-range": (206, "RGVhciA="),
    "delete-object": (204, None),
    "list-objects": (200, {"objects": [{"key": "letters/1.txt"}], "limit": 100}),
    "delete-objects": (200, {"deleted": 1, "complete": True}),
    "rename-object": (200, {"key": "sent/1.txt", "size": 8}),
    "begin-object-upload": (201, {"method": "PUT", "size": 12_000_000}),
    "read-objects": (200, {"objects": [{"data": "RGVhciBCb2I="}], "missing": ["letters/9.txt"]}),
    "list-spaces": (
        200,
        {
            "spaces": [
                {"space": "drafts", "owner": "coordinator_01"},
                {"space": "agents/agent_billing_01/drafts", "owner": "agent_billing_01"},
            ]
        },
    ),
    "configure-space": (200, {"permissions": {"default": "read"}, "version": 2}),
    "openapi": (200, {"openapi": "3.1.0"}),
    "openapi-of-openwop": (200, {"openapi": "3.1.0"}),
    "docs": (200, ...),
    "without-key": (401, {"code": "UNAUTHENTICATED"}),
    "bearer-key": (200, {"limit": 1}),
    "foreign-agent-id": (403, {"code": "ACCESS_DENIED"}),
    "malformed-body": invalid("body"),
    "binary-body": invalid("body"),
    "missing-fields": invalid("key", "value", "memory_type", "colour"),
    "unknown-parameter": invalid("agent"),
    "unknown-path": (404, {"code": "NOT_FOUND"}),
    "wrong-method": (405, {"code": "METHOD_NOT_ALLOWED"}),
}
_OBJECT_CASES = (
    *("put-object", "put-object-base64", "get-object", "get-object-range", "delete-object"),
    *("list-objects", "delete-objects", "rename-object", "begin-object-upload", "read-objects"),
    "configure-space",
)
ANSWERS |= {f"{name}-private": ANSWERS[name] for name in _OBJECT_CASES}

NOBODY = dict.fromkeys(
    [
        *(f"key of {id}" for id in ("agent_billing_01", "agent_data_01", "agent_audit_01")),
        *("key of coordinator_01", "key of admin", "key of root", "id of batch_progress"),
        *("ref of planner", "run of planner", "id of preference", "id of run", "id of episode"),
        "id of consolidation",
    ],
    "mem_x",
)
READS = [
    name
    for name in ANSWERS
    if render_http_event(name, NOBODY)["requestContext"]["http"]["method"] == "GET"
]


@pytest.fixture(scope="module")
def handler(session_service: Service) -> Handler:
    """The API function, built from its environment and with the deployment's secret."""
    settings = ApiSettings.from_env(session_service.environment())
    return App(Container(settings, session_service.clock))


@dataclass
class Stage:
    """The values of the payloads' placeholders, and all items stored at that time."""

    placeholders: dict[str, str] = field(default_factory=dict)
    stored: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture(scope="module")
def built(session_service: Service) -> Stage:  # noqa: ARG001 - one for each engine
    """The stage; the first test builds it."""
    return Stage()


@pytest.fixture
def stage(service: Service, built: Stage) -> dict[str, str]:
    if built.stored:
        restore(service, built.stored)
    else:
        built.placeholders = build_stage(service, service.tenant())
        built.stored = service.stored()
    return built.placeholders


def build_stage(service: Service, tenant: Tenant) -> dict[str, str]:
    """Make what the payloads are about, and return what their placeholders stand for."""
    named = {"agent_billing_01": "agent", "agent_data_01": "agent", "agent_audit_01": "agent"}
    made = {id: tenant.principal(kind, id) for id, kind in named.items()}
    made["coordinator_01"] = tenant.principal("coordinator", "coordinator_01")
    keys = {id: principal["api_key"] for id, principal in made.items()}
    keys |= {"admin": tenant.admin.headers["X-API-Key"], "root": ROOT_KEY}
    agent, boss = (service.client(keys[id]) for id in ("agent_billing_01", "coordinator_01"))
    place = {"intent_id": "intent_01HABC", "assigned_agent": "agent_billing_01"}
    create_task(boss, id="task_01HXYZ", **place)
    service.clock.advance(ms=1)
    create_task(boss, id="Q3/Umsätze 100%", **place)
    ok(grant(boss, "task_01HXYZ", "agent_audit_01", access="read"))
    rule = {"namespace": "company_policies", "key": "charge_threshold", "value": {"usd": 10_000}}
    create(boss, rule | {"memory_type": "semantic"})
    progress = {"namespace": "invoice_processing", "key": "batch_progress", "value": PROGRESS}
    scope = {"memory_type": "working", "scope": {"task_id": "task_01HXYZ"}}
    entry = create(agent, progress | scope | {"tags": ["batch", "invoices", "in-progress"]})
    conversed(agent, boss)
    learned(agent)
    named_run = set_up_learning(tenant)
    gone = {"kind": "person", "id": "user_7", "dry_run": True}
    ok(tenant.admin.post("/api/v1/deletions", json=gone), 202)
    service.tenant("acme")
    doomed = service.tenant("acme-trial")
    ok(service.root.delete(f"/api/v1/tenants/{doomed.id}"), 202)
    named = {f"key of {id}": key for id, key in keys.items()}
    run = run_calls.start(agent)
    episode = run_calls.append(agent, run, "Opened with ROI")
    named |= {"id of episode": episode["id"]}
    named |= {"id of run": run["id"]}
    return named | named_run | remembered(agent) | {"id of batch_progress": entry["id"]}


def set_up_learning(tenant: Tenant) -> dict[str, str]:
    """A strategy, and a consolidation."""
    ok(tenant.admin.put("/api/v1/strategies/facts", json={"kind": "facts"}), 201)
    run = ok(tenant.admin.post("/api/v1/consolidation", json={}), 202)
    return {"id of consolidation": run["id"]}


def conversed(agent: httpx.Client, boss: httpx.Client) -> None:
    """A conversation, a state, and an object in a shared and in a private space."""
    ok(conversation_calls.put(agent, "session_41", "Hi", "Hello", user_id="user_7"), 201)
    state = "/api/v1/agents/agent_billing_01/state/user_7/language"
    ok(agent.put(state, json={"value": "de"}))
    permissions = {"allow": [{"agent": "agent_billing_01", "access": "admin"}]}
    ok(boss.patch("/api/v1/objects/drafts", json={"permissions": permissions}))
    for place in ("/api/v1/agents/agent_billing_01/objects", "/api/v1/objects"):
        letter, kind = f"{place}/drafts/letters/1.txt", {"Content-Type": "text/plain"}
        ok(agent.put(letter, content=b"Dear Bob", headers=kind), 201)


def learned(agent: httpx.Client) -> None:
    """A workflow with an outcome, a working value and a fact."""
    fact = {"subject": "acme", "predicate": "pays", "object": "net 60", "fact_id": "acme-terms"}
    ok(agent.post("/api/v1/facts", json=fact), 201)
    workflow = "/api/v1/procedures/billing/reconcile/by-date"
    ok(agent.put(workflow, json={"spec": ["sort", "match"]}), 201)
    ok(agent.post(f"{workflow}/outcome", json={"score": 1}))
    value = "/api/v1/instances/billing-7/working/current_invoice"
    ok(agent.put(value, json={"value": "inv_789"}))


def remembered(agent: httpx.Client) -> dict[str, str]:
    """An OpenWOP memory with an entry, and a run on it that has a secret."""
    before = start(agent).put("Prefers e-mail", tags=["source:session"])
    run = start(agent, secrets=[{"label": "stripe", "value": "sk_live_51HXyz0042"}])
    ids = {"ref of planner": run.reference, "run of planner": run.id}
    return ids | {"id of preference": before["id"]}


def answered(handler: Handler, event: dict[str, Any]) -> httpx.Response:
    """Check the function's answer, and return it as the client receives it."""
    answer = handler(event, LambdaContext())
    assert answer.keys() == {"statusCode", "headers", "body", "isBase64Encoded"}
    http = event["requestContext"]["http"]
    response = httpx.Response(
        answer["statusCode"],
        headers=answer["headers"],
        content=answer["body"].encode(),
        request=httpx.Request(http["method"], f"{BASE_URL}{quote(http['path'])}"),
    )
    check_common_rules(response)
    check_document(response)
    assert response.headers["X-Request-Id"] == event["requestContext"]["requestId"]
    return response


def assert_holds(found: Any, wanted: Any) -> None:
    """`found` has what `wanted` names, perhaps more; lists agree item by item."""
    if wanted is ...:
        assert found
    elif isinstance(wanted, dict):
        for name, value in wanted.items():
            assert_holds(found[name], value)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), found
        for each, value in zip(found, wanted, strict=True):
            assert_holds(each, value)
    else:
        assert found == wanted


def assert_answered(handler: Handler, stage: dict[str, str], name: str) -> None:
    """The case must be answered as ANSWERS says."""
    status, wanted = ANSWERS[name]
    response = answered(handler, render_http_event(name, stage))
    assert response.status_code == status, response.text
    if wanted is None:
        assert response.content == b""
    elif "json" in response.headers["Content-Type"]:
        assert_holds(response.json(), wanted)
    else:
        assert_holds(response.text, wanted)


@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in READS])
def test_the_answer_to_each_payload(handler: Handler, stage: dict[str, str], name: str) -> None:
    assert_answered(handler, stage, name)


def test_the_answer_to_each_payload_that_only_reads(
    handler: Handler, stage: dict[str, str], subtests: pytest.Subtests
) -> None:
    for name in READS:
        with subtests.test(name):
            assert_answered(handler, stage, name)


def test_a_retried_payload_writes_once(
    handler: Handler, stage: dict[str, str], service: Service
) -> None:
    event = render_http_event("create-entry-once", stage)
    first, before = answered(handler, event), service.state()
    assert answered(handler, event).json() == first.json()
    assert service.state() == before


def test_headers_of_answers(handler: Handler, stage: dict[str, str]) -> None:
    made = answered(handler, render_http_event("create-entry", stage))
    assert made.headers["Location"] == f"{MEMORY}/{made.json()['id']}"
    assert made.headers["ETag"] == '"1"'
    task = answered(handler, render_http_event("get-task-by-odd-name", stage))
    assert task.headers["ETag"] == '"1"'
    registered = answered(handler, render_http_event("register-task", stage))
    assert registered.headers["Location"] == f"{TASKS}/task_01HNEW"
    assert (
        answered(handler, render_http_event("without-key", stage)).headers["WWW-Authenticate"]
        == "Bearer"
    )
    wrong = answered(handler, render_http_event("wrong-method", stage))
    assert wrong.headers["Allow"] == "DELETE, GET, PATCH"


def test_every_payload_is_tried_and_every_route_has_one() -> None:
    assert load_http_cases().keys() == ANSWERS.keys()
    reached, router = set(), Router(list_routes())
    for name in ANSWERS:
        event = render_http_event(name, NOBODY)
        with suppress(MethodNotAllowed, NotFound):
            http = event["requestContext"]["http"]
            route, _ = router.find(http["method"], event["rawPath"])
            reached.add((route.method, route.path))
    assert reached == {(route.method, route.path) for route in list_routes() if route.is_documented}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_laptop_makes_the_same_event_of_the_same_request(name: str) -> None:
    event = render_http_event(name, NOBODY)
    body = event.get("body", "")
    sent = base64.b64decode(body) if event["isBase64Encoded"] else body.encode()
    http = event["requestContext"]["http"]
    made = to_event(
        http["method"],
        http["path"],
        event["rawQueryString"],
        event["headers"].items(),
        sent,
        http["sourceIp"],
    )
    for member in _AT_AWS:
        made["requestContext"][member] = event["requestContext"][member]
    if event["headers"].get("content-type") != "application/json":
        made |= {member: event[member] for member in ("body", "isBase64Encoded") if sent}
    assert made == event

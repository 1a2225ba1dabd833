"""The authorization matrix: for each route a call on others' things, and each caller's answer."""

from typing import Any, NamedTuple


class Row(NamedTuple):
    """A call and the expected statuses, one for each of `everything.CALLERS`.

    Attributes:
        answers: a status for each caller; `v` behind it says that the answer shows the values.
        path: with the ids of things in angle brackets.
        body: of the request.
        party: whose call the last status is.
        headers: beside the key.
    """

    answers: str
    path: str
    body: Any = None
    party: str = "alice"
    headers: dict[str, str] | None = None


_V1 = {"If-Match": "1"}
_VERSION = {"If-Match": "<version>"}
_MESSAGE = {"role": "user", "content": "m"}
_BY_KEY = {"namespace": "closed", "key": "k", "memory_type": "semantic"}
_SLOT = {"namespace": "closed", "key": "k", "memory_type": "semantic", "value": {}}
_CONVERSATION = {"user_id": "alice", "messages": []}

PUBLIC = "200 200 200 200 200 200 200 200 200 200 200"
ROWS: dict[str, Row] = {
    "GET /api/v1/intents/{intent_id}/events": Row(
        "401 401 404 403 200 403 403 403 403 200 200v", "/api/v1/intents/intent_1/events"
    ),
    "GET /api/v1/agents/{agent_id}/events": Row(
        "401 401 200 403 403 403 403 403 403 200 200", "/api/v1/agents/alice/events"
    ),
    "GET /api/v1/memory/namespaces/{namespace}/events": Row(
        "401 401 200 403 403 403 403 403 403 200 200",
        "/api/v1/memory/namespaces/closed/events",
        party="boss",
    ),
    "GET /api/v1/memory/namespaces": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/memory/namespaces"
    ),
    "GET /api/v1/memory/namespaces/{namespace}": Row(
        "401 401 404 403 403 403 403 403 403 200 200",
        "/api/v1/memory/namespaces/closed",
        party="boss",
    ),
    "PATCH /api/v1/memory/namespaces/{namespace}": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 200w",
        "/api/v1/memory/namespaces/closed",
        {"permissions": {"default": "admin"}},
        party="boss",
    ),
    "GET /api/v1/agents/{agent_id}/memory/config": Row(
        "401 401 200 403 403 403 403 403 403 200 200", "/api/v1/agents/alice/memory/config"
    ),
    "PATCH /api/v1/agents/{agent_id}/memory/config": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 403",
        "/api/v1/agents/alice/memory/config",
        {"episodic": {"capacity": 5}},
    ),
    "GET /api/v1/coordinators/{coordinator_id}/guardrails": Row(
        "401 401 200 403 403 403 403 403 200 200 200",
        "/api/v1/coordinators/boss/guardrails",
        party="boss",
    ),
    "PATCH /api/v1/coordinators/{coordinator_id}/guardrails": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 403",
        "/api/v1/coordinators/boss/guardrails",
        {"guardrails": {}},
        party="boss",
    ),
    "GET /api/v1/memory": Row(
        "401 401 200 200 200v 200 403 200 403 200 200v", "/api/v1/memory?scope.task_id=task_1"
    ),
    "GET /api/v1/agents/{agent_id}/memory/summary": Row(
        "401 401 200 403 403 403 403 403 403 200 200", "/api/v1/agents/alice/memory/summary"
    ),
    "GET /api/v1/agents/{agent_id}/memory/eviction": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/agents/alice/memory/eviction"
    ),
    "GET /api/v1/agents/{agent_id}/memory": Row(
        "401 401 200 200 200 200 403 200 403 200 200v", "/api/v1/agents/alice/memory"
    ),
    "GET /api/v1/memory/{id}": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/memory/<working>"
    ),
    "GET /api/v1/memory/{id}/history": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/memory/<working>/history"
    ),
    "DELETE /api/v1/memory/{id}/history": Row(
        "401 401 404 403 403 403 403 403 403 403 204w", "/api/v1/memory/<working>/history"
    ),
    "DELETE /api/v1/memory/{id}": Row(
        "401 401 404 403 403 403 403 403 403 403 204w", "/api/v1/memory/<episodic>"
    ),
    "POST /api/v1/memory": Row(
        "401 401 201w 403 409 403 403 403 403 403 201w",
        "/api/v1/memory",
        _SLOT | {"memory_type": "working", "key": "new", "scope": {"task_id": "task_1"}},
    ),
    "POST /api/v1/remember": Row(
        "401 401 201w 201w 201w 403 201w 201w 403 201w 201w",
        "/api/v1/remember",
        {"text": "Invoices go out on Fridays"},
    ),
    "POST /api/v1/forget": Row(
        "401 401 200w 403 403 403 403 403 403 200w 403",
        "/api/v1/forget",
        {"user_id": "alice"},
    ),
    "PUT /api/v1/memory": Row(
        "401 401 404 403 403 403 403 403 403 403 409v",
        "/api/v1/memory",
        _SLOT,
        party="boss",
        headers={"If-Match": "9"},
    ),
    "PATCH /api/v1/memory/{id}": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/memory/<working>",
        {"value": {}},
        headers=_V1,
    ),
    "POST /api/v1/memory/{id}/restore": Row(
        "401 401 404 403 403 403 403 403 403 403 200vw",
        "/api/v1/memory/<working>/restore",
        {"version": 1},
        headers=_V1,
    ),
    "POST /api/v1/memory/search": Row(
        "401 401 200 200 200 200 403 200 403 200 200",
        "/api/v1/memory/search",
        {"query": "told", "memory_type": "semantic"},
        party="boss",
    ),
    "POST /api/v1/recall": Row(
        "401 401 200 200v 200v 200v 403 200v 403 200v 200v",
        "/api/v1/recall",
        {"query": "told"},
    ),
    "GET /api/v1/recall/{reference}": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/recall/m.s1.0"
    ),
    "GET /api/v1/recall/{reference}/answers": Row(
        "401 401 200 200 200 200 403 200 403 200 200v", "/api/v1/recall/f.used/answers"
    ),
    "POST /api/v1/conversations/search": Row(
        "401 401 200 200 200 200 403 200 403 200 200v",
        "/api/v1/conversations/search",
        {"query": "m", "session_id": "s1"},
    ),
    "POST /api/v1/memory/batch": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/memory/batch",
        {"entries": [_BY_KEY | {"version": 1, "value": {}}]},
        "boss",
    ),
    "DELETE /api/v1/memory/batch": Row(
        "401 401 200 200 200 403 200 200 403 200 200w",
        "/api/v1/memory/batch?namespace=closed&memory_type=semantic",
        party="boss",
    ),
    "DELETE /api/v1/tasks/{task_id}/grants/{principal}": Row(
        "401 401 404 403 409 403 403 403 403 403 204w", "/api/v1/tasks/task_1/grants/guest"
    ),
    "GET /api/v1/tasks/{task_id}/grants": Row(
        "401 401 404 403 403 403 403 403 403 200 200", "/api/v1/tasks/task_1/grants"
    ),
    "PUT /api/v1/tasks/{task_id}/grants/{principal}": Row(
        "401 401 404 403 409 403 403 403 403 403 200w",
        "/api/v1/tasks/task_1/grants/stranger",
        {"access": "write"},
    ),
    "GET /api/v1/intents": Row("401 401 200 200 200 200 403 200 403 200 200", "/api/v1/intents"),
    "GET /api/v1/intents/{intent_id}/acl": Row(
        "401 401 404 403 200 403 403 403 403 200 200", "/api/v1/intents/intent_1/acl", party="boss"
    ),
    "PUT /api/v1/intents/{intent_id}/acl": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 200w",
        "/api/v1/intents/intent_1/acl",
        {"entries": []},
        party="boss",
    ),
    "PUT /api/v1/intents/{intent_id}/owner": Row(
        "401 401 400 403 403 403 403 403 200w 200w 403",
        "/api/v1/intents/intent_1/owner",
        {"principal": "other"},
        party="boss",
    ),
    "GET /api/v1/tasks/{task_id}/context": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/tasks/task_1/context"
    ),
    "GET /api/v1/tasks/{task_id}": Row(
        "401 401 404 403 200v 403 403 403 403 200v 200v", "/api/v1/tasks/task_1"
    ),
    "GET /api/v1/intents/{intent_id}/tasks": Row(
        "401 401 200 200 200v 200 403 200 403 200v 200v", "/api/v1/intents/intent_1/tasks"
    ),
    "GET /api/v1/agents/{agent_id}/tasks": Row(
        "401 401 200 200 200 200 403 200 403 200v 200v", "/api/v1/agents/alice/tasks"
    ),
    "POST /api/v1/tasks": Row(
        "401 401 400 403 403 403 403 403 403 403 201w",
        "/api/v1/tasks",
        {"intent_id": "intent_1", "assigned_agent": "former", "parent_task_id": "task_1"},
        party="boss",
    ),
    "PATCH /api/v1/tasks/{task_id}": Row(
        "401 401 404 403 409 403 403 403 200w 200vw 200vw",
        "/api/v1/tasks/task_1",
        {"assigned_agent": "stranger"},
        party="boss",
        headers=_VERSION,
    ),
    "POST /api/v1/workflows": Row(
        "401 401 200w 403 403 403 403 403 403 200w 403",
        "/api/v1/workflows",
        {"name": "w"},
        party="boss",
    ),
    "POST /api/v1/conversations/{session_id}/messages/pop": Row(
        "401 401 404 403 403 403 403 403 403 403 200vw", "/api/v1/conversations/s1/messages/pop"
    ),
    "POST /api/v1/conversations/{session_id}/uploads/{upload_id}/messages": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/conversations/s1/uploads/<upload>/messages",
        {"offset": 0, "messages": [_MESSAGE]},
    ),
    "POST /api/v1/conversations/{session_id}/uploads": Row(
        "401 401 201w 403 403 403 403 403 403 403 201w", "/api/v1/conversations/s1/uploads", {}
    ),
    "POST /api/v1/conversations/{session_id}/messages": Row(
        "401 401 404 403 403 403 403 403 403 403 201w",
        "/api/v1/conversations/s1/messages",
        _MESSAGE,
    ),
    "DELETE /api/v1/conversations/{session_id}/messages": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/conversations/s1/messages?from=0&to=1",
    ),
    "PATCH /api/v1/conversations/{session_id}/messages/{index}": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/conversations/s1/messages/0",
        {"content": "m"},
    ),
    "GET /api/v1/conversations/{session_id}/archive": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/conversations/s0/archive"
    ),
    "DELETE /api/v1/conversations/{session_id}/archive": Row(
        "401 401 404 403 403 403 403 403 204w 204w 204w", "/api/v1/conversations/s0/archive"
    ),
    "GET /api/v1/conversations/{session_id}": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/conversations/s1"
    ),
    "PUT /api/v1/conversations/{session_id}": Row(
        "401 401 201w 403 403 403 403 403 403 403 200w", "/api/v1/conversations/s1", _CONVERSATION
    ),
    "PATCH /api/v1/conversations/{session_id}": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/conversations/s1",
        {"shared_with": ["stranger"]},
    ),
    "DELETE /api/v1/conversations/{session_id}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 204w", "/api/v1/conversations/s1"
    ),
    "GET /api/v1/conversations": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/conversations"
    ),
    "GET /api/v1/users/{user_id}/conversations": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/users/alice/conversations"
    ),
    "GET /api/v1/agents/{agent_id}/state/{owner_id}/{key}": Row(
        "401 401 403 403 403 403 403 403 403 403 200v", "/api/v1/agents/alice/state/boss/k"
    ),
    "DELETE /api/v1/agents/{agent_id}/state/{owner_id}/{key}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 204w", "/api/v1/agents/alice/state/boss/k"
    ),
    "GET /api/v1/agents/{agent_id}/state/{owner_id}": Row(
        "401 401 200 200 200 200 403 200 403 200 200v",
        "/api/v1/agents/alice/state/boss",
        party="boss",
    ),
    "GET /api/v1/agents/{agent_id}/state": Row(
        "401 401 200 200 200 200 403 200 403 200 200v", "/api/v1/agents/alice/state", party="boss"
    ),
    "PUT /api/v1/agents/{agent_id}/state/{owner_id}/{key}": Row(
        "401 401 403 403 403 403 403 403 403 403 200w",
        "/api/v1/agents/alice/state/boss/k",
        {"value": 1},
    ),
    "POST /api/v1/facts": Row(
        "401 401 201w 201w 201w 403 201w 201w 403 201w 201w",
        "/api/v1/facts",
        {"subject": "a", "predicate": "b", "object": "c"},
    ),
    "POST /api/v1/facts/batch": Row(
        "401 401 200w 200w 200w 403 200w 200w 403 200w 200w",
        "/api/v1/facts/batch",
        {"facts": [{"subject": "s", "predicate": "p", "object": "batch"}]},
    ),
    "POST /api/v1/facts/recall": Row(
        "401 401 200 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/facts/recall", {"query": "s"}
    ),
    "GET /api/v1/facts/predicates": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/facts/predicates"
    ),
    "PUT /api/v1/facts/predicates/{predicate}": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 403",
        "/api/v1/facts/predicates/p",
        {"single_valued": True},
    ),
    "GET /api/v1/facts/{fact_id}/history": Row(
        "401 401 404 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/facts/<fact>/history"
    ),
    "GET /api/v1/facts/{fact_id}": Row(
        "401 401 404 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/facts/<fact>"
    ),
    "DELETE /api/v1/facts/{fact_id}": Row(
        "401 401 404 204w 204w 403 204w 204w 204w 204w 204w", "/api/v1/facts/<fact>"
    ),
    "POST /api/v1/consolidation": Row(
        "401 401 202w 403 403 403 403 403 202w 202w 403", "/api/v1/consolidation", {}
    ),
    "GET /api/v1/consolidation/settings": Row(
        "401 401 200 403 403 403 403 403 200 200 403", "/api/v1/consolidation/settings"
    ),
    "PUT /api/v1/consolidation/settings": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 403",
        "/api/v1/consolidation/settings",
        {"every": "P1D"},
    ),
    "GET /api/v1/consolidation/{id}": Row(
        "401 401 404 403 403 403 403 403 200 200 403", "/api/v1/consolidation/<consolidation>"
    ),
    "POST /api/v1/consolidation/{id}/undo": Row(
        "401 401 404 403 403 403 403 403 200w 200w 403",
        "/api/v1/consolidation/<consolidation>/undo",
    ),
    "PUT /api/v1/instances/{instance_id}/working/{key}": Row(
        "401 401 200w 200w 200w 403 200w 200w 403 200w 200w",
        "/api/v1/instances/i1/working/k",
        {"value": 1},
    ),
    "GET /api/v1/instances/{instance_id}/working/{key}": Row(
        "401 401 404 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/instances/i1/working/k"
    ),
    "DELETE /api/v1/instances/{instance_id}/working/{key}": Row(
        "401 401 404 204w 204w 403 204w 204w 403 204w 204w", "/api/v1/instances/i1/working/k"
    ),
    "GET /api/v1/instances/{instance_id}/working": Row(
        "401 401 200 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/instances/i1/working"
    ),
    "GET /api/v1/strategies": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/strategies"
    ),
    "PUT /api/v1/strategies/{name}": Row(
        "401 401 201w 403 403 403 403 403 200w 200w 403",
        "/api/v1/strategies/notes",
        {"kind": "summary"},
    ),
    "GET /api/v1/strategies/{name}": Row(
        "401 401 404 200 200 200 403 200 403 200 200", "/api/v1/strategies/notes"
    ),
    "DELETE /api/v1/strategies/{name}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 403", "/api/v1/strategies/notes"
    ),
    "GET /api/v1/strategies/{name}/status": Row(
        "401 401 404 200 200 200 403 200 403 200 200", "/api/v1/strategies/notes/status"
    ),
    "POST /api/v1/procedures/{agent_type}/{task_type}/select": Row(
        "401 401 404 200v 200v 200v 403 200v 403 200v 200v",
        "/api/v1/procedures/sdr/mail/select",
        {},
    ),
    "POST /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}/outcome": Row(
        "401 401 404 200vw 200vw 403 200w 200vw 403 200vw 200vw",
        "/api/v1/procedures/sdr/mail/w1/outcome",
        {"score": 1},
    ),
    "PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}": Row(
        "401 401 201w 200w 200w 403 200w 200w 403 200w 200w",
        "/api/v1/procedures/sdr/mail/w1",
        {"spec": 1},
    ),
    "GET /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}": Row(
        "401 401 404 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/procedures/sdr/mail/w1"
    ),
    "DELETE /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}": Row(
        "401 401 404 204w 204w 403 204w 204w 403 204w 204w", "/api/v1/procedures/sdr/mail/w1"
    ),
    "GET /api/v1/procedures/{agent_type}": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/procedures/sdr"
    ),
    "GET /api/v1/procedures/{agent_type}/{task_type}": Row(
        "401 401 200 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/procedures/sdr/mail"
    ),
    "POST /v1/runs": Row(
        "401 401 403 201w 201w 201w 403 201w 403 201w 201w", "/v1/runs", {"memoryRef": "<ref>"}
    ),
    "GET /v1/memories": Row("401 401 200 200 200 200 403 200 403 200 200", "/v1/memories"),
    "POST /v1/memories": Row(
        "401 401 200w 200w 200w 200w 403 200w 403 200w 200w", "/v1/memories", {"agent": "unnamed"}
    ),
    "GET /v1/runs": Row("401 401 200 200 200 200 403 200 403 200 200", "/v1/runs"),
    "GET /v1/runs/{runId}": Row("401 401 404 200 200 200 403 200 403 200 200", "/v1/runs/<run>"),
    "DELETE /v1/runs/{runId}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 204w", "/v1/runs/<run>"
    ),
    "GET /v1/runs/{runId}/entries": Row(
        "401 401 404 200 200 200 403 200 403 200 200", "/v1/runs/<run>/entries"
    ),
    "POST /v1/runs/{runId}/secrets": Row(
        "401 401 404 200w 200w 403 403 200w 403 200w 200w",
        "/v1/runs/<run>/secrets",
        {"secrets": [{"label": "l", "value": "long-enough-1"}]},
    ),
    "POST /v1/runs/{runId}/end": Row(
        "401 401 404 200w 200w 403 403 200w 403 200w 200w", "/v1/runs/<run>/end"
    ),
    "GET /v1/memory/{memoryRef}/{id}": Row(
        "401 401 403 200v 200v 200v 403 200v 403 200v 200v", "/v1/memory/<ref>/<mem>"
    ),
    "DELETE /v1/memory/{memoryRef}/{id}": Row(
        "401 401 403 200w 200w 403 200w 200w 403 200w 200w", "/v1/memory/<ref>/<mem>"
    ),
    "GET /v1/memory/{memoryRef}": Row(
        "401 401 403 200v 200v 200v 403 200v 403 200v 200v", "/v1/memory/<ref>"
    ),
    "POST /v1/memory/{memoryRef}": Row(
        "401 401 403 201w 201w 403 201w 201w 403 201w 201w", "/v1/memory/<ref>", {"content": "c"}
    ),
    "POST /api/v1/runs": Row(
        "401 401 201w 201w 201w 403 201w 201w 403 201w 201w", "/api/v1/runs", {"agent_type": "sdr"}
    ),
    "GET /api/v1/runs": Row(
        "401 401 200 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/runs?agent_type=sdr"
    ),
    "GET /api/v1/runs/{run_id}": Row(
        "401 401 404 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/runs/<log>"
    ),
    "POST /api/v1/runs/{run_id}/complete": Row(
        "401 401 404 200vw 200vw 403 200w 200vw 403 200vw 200vw",
        "/api/v1/runs/<log>/complete",
        {"output": 1},
    ),
    "POST /api/v1/runs/{run_id}/fail": Row(
        "401 401 404 200vw 200vw 403 200w 200vw 403 200vw 200vw",
        "/api/v1/runs/<log>/fail",
        {"error": 1},
    ),
    "POST /api/v1/runs/{run_id}/episodes": Row(
        "401 401 404 201w 201w 403 201w 201w 403 201w 201w",
        "/api/v1/runs/<log>/episodes",
        {"content": "c"},
    ),
    "GET /api/v1/episodes": Row(
        "401 401 200 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/episodes?agent_type=sdr"
    ),
    "POST /api/v1/tenants": Row(
        "401 401 403 403 403 403 403 403 403 403 201w",
        "/api/v1/tenants",
        {"id": "another"},
        party="root",
    ),
    "POST /api/v1/tenants/{id}/admins": Row(
        "401 401 403 403 403 403 403 403 403 403 404",
        "/api/v1/tenants/unknown/admins",
        {"id": "another"},
        party="root",
    ),
    "PATCH /api/v1/tenants/{id}": Row(
        "401 401 403 403 403 403 403 403 403 403 404",
        "/api/v1/tenants/unknown",
        {"limits": {"items": 1}},
        party="root",
    ),
    "PATCH /api/v1/tenants/{id}/principals/{principal}": Row(
        "401 401 403 403 403 403 403 403 403 403 404",
        "/api/v1/tenants/unknown/principals/nobody",
        {"permissions": ["memory.inspect"]},
        party="root",
    ),
    "DELETE /api/v1/tenants/{id}": Row(
        "401 401 403 403 403 403 403 403 403 403 404",
        "/api/v1/tenants/unknown",
        party="root",
    ),
    "GET /api/v1/tenants/{id}/deletion": Row(
        "401 401 403 403 403 403 403 403 403 403 404",
        "/api/v1/tenants/unknown/deletion",
        party="root",
    ),
    "POST /api/v1/deletions": Row(
        "401 401 202w 403 403 403 403 403 202w 202w 403",
        "/api/v1/deletions",
        {"kind": "agent", "id": "former"},
    ),
    "GET /api/v1/deletions/{kind}/{id}": Row(
        "401 401 404 403 403 403 403 403 404 404 403", "/api/v1/deletions/agent/former"
    ),
    "POST /api/v1/principals": Row(
        "401 401 201w 403 403 403 403 403 201w 201w 403",
        "/api/v1/principals",
        {"id": "new", "kind": "agent"},
    ),
    "GET /api/v1/principals": Row(
        "401 401 200 403 403 403 403 403 200 200 403", "/api/v1/principals"
    ),
    "GET /api/v1/me": Row("401 401 200 200 200 200 200 200 200 200 200", "/api/v1/me"),
    "PATCH /api/v1/principals/{id}": Row(
        "401 401 404 403 403 403 403 403 200w 200w 403",
        "/api/v1/principals/former",
        {"permissions": ["memory.admin"]},
    ),
    "POST /api/v1/principals/{id}/rotate": Row(
        "401 401 404 403 403 403 403 403 200w 200w 403", "/api/v1/principals/former/rotate"
    ),
    "DELETE /api/v1/principals/{id}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 403", "/api/v1/principals/former"
    ),
    "GET /api/v1/audit": Row("401 401 200 403 403 403 403 403 200 200 403", "/api/v1/audit"),
    "GET /api/v1/usage": Row("401 401 200 403 403 403 403 403 200 200 403", "/api/v1/usage"),
    "GET /api/v1/access": Row(
        "401 401 404 403 403 403 403 403 200 200 200",
        "/api/v1/access?principal=alice&entry=<working>",
    ),
    "GET /api/v1/agents": Row("401 401 200 200 200 200 403 200 403 200 200", "/api/v1/agents"),
    "GET /api/v1/agent-types": Row(
        "401 401 200 200 200 200 403 200 403 200 200", "/api/v1/agent-types"
    ),
    "DELETE /api/v1/runs": Row(
        "401 401 200 200w 200w 403 200w 200w 200w 200w 200w", "/api/v1/runs?agent_type=sdr"
    ),
    "DELETE /api/v1/runs/{run_id}": Row(
        "401 401 404 204w 204w 403 204w 204w 204w 204w 204w", "/api/v1/runs/<log>"
    ),
    "DELETE /api/v1/runs/{run_id}/episodes/{episode_id}": Row(
        "401 401 404 204w 204w 403 204w 204w 204w 204w 204w",
        "/api/v1/runs/<log>/episodes/<episode>",
    ),
    "GET /api/v1/facts": Row("401 401 200 200v 200v 200v 403 200v 403 200v 200v", "/api/v1/facts"),
    "DELETE /api/v1/facts": Row(
        "401 401 200 200w 200w 403 200w 200w 200w 200w 200w", "/api/v1/facts?subject=s"
    ),
    "GET /api/v1/objects": Row("401 401 200 200 200 200 403 200 403 200 200", "/api/v1/objects"),
    "GET /api/v1/objects/{space}": Row(
        "401 401 200 403 403 403 403 403 403 403 200", "/api/v1/objects/box"
    ),
    "DELETE /api/v1/objects/{space}": Row(
        "401 401 200 403 403 403 403 403 200w 200w 200w", "/api/v1/objects/box?prefix=k"
    ),
    "PATCH /api/v1/objects/{space}": Row(
        "401 401 200w 403 403 403 403 403 200w 200w 200w",
        "/api/v1/objects/box",
        {"permissions": {"default": "admin"}},
    ),
    "PUT /api/v1/objects/{space}/{key}": Row(
        "401 401 201w 403 403 403 403 403 403 403 200w", "/api/v1/objects/box/k", "changed"
    ),
    "GET /api/v1/objects/{space}/{key}": Row(
        "401 401 404 403 403 403 403 403 403 403 200v", "/api/v1/objects/box/k"
    ),
    "DELETE /api/v1/objects/{space}/{key}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 204w", "/api/v1/objects/box/k"
    ),
    "POST /api/v1/objects/{space}/rename": Row(
        "401 401 404 403 403 403 403 403 403 403 200w",
        "/api/v1/objects/box/rename",
        {"from": "k", "to": "other"},
    ),
    "POST /api/v1/objects/{space}/uploads": Row(
        "401 401 201w 403 403 403 403 403 403 403 201w",
        "/api/v1/objects/box/uploads",
        {"size": 3},
    ),
    "POST /api/v1/objects/{space}/read": Row(
        "401 401 200 403 403 403 403 403 403 403 200", "/api/v1/objects/box/read", {"keys": ["k"]}
    ),
    "GET /api/v1/agents/{agent_id}/objects/{space}": Row(
        "401 401 200 403 403 403 403 403 403 200 200", "/api/v1/agents/alice/objects/box"
    ),
    "DELETE /api/v1/agents/{agent_id}/objects/{space}": Row(
        "401 401 200 403 403 403 403 403 200w 200w 200w",
        "/api/v1/agents/alice/objects/box?prefix=k",
    ),
    "PATCH /api/v1/agents/{agent_id}/objects/{space}": Row(
        "401 401 403 403 403 403 403 403 403 403 200w",
        "/api/v1/agents/alice/objects/box",
        {"permissions": {"default": "read"}},
    ),
    "PUT /api/v1/agents/{agent_id}/objects/{space}/{key}": Row(
        "401 401 403 403 403 403 403 403 403 403 200w",
        "/api/v1/agents/alice/objects/box/k",
        "changed",
    ),
    "GET /api/v1/agents/{agent_id}/objects/{space}/{key}": Row(
        "401 401 403 403 403 403 403 403 403 403 200v", "/api/v1/agents/alice/objects/box/k"
    ),
    "DELETE /api/v1/agents/{agent_id}/objects/{space}/{key}": Row(
        "401 401 404 403 403 403 403 403 204w 204w 204w", "/api/v1/agents/alice/objects/box/k"
    ),
    "POST /api/v1/agents/{agent_id}/objects/{space}/rename": Row(
        "401 401 403 403 403 403 403 403 403 403 200w",
        "/api/v1/agents/alice/objects/box/rename",
        {"from": "k", "to": "other"},
    ),
    "POST /api/v1/agents/{agent_id}/objects/{space}/uploads": Row(
        "401 401 403 403 403 403 403 403 403 403 201w",
        "/api/v1/agents/alice/objects/box/uploads",
        {"size": 3},
    ),
    "POST /api/v1/agents/{agent_id}/objects/{space}/read": Row(
        "401 401 403 403 403 403 403 403 403 403 200",
        "/api/v1/agents/alice/objects/box/read",
        {"keys": ["k"]},
    ),
    "GET /": Row(PUBLIC, "/"),
    "GET /health": Row(PUBLIC, "/health"),
    "GET /.well-known/openintent.json": Row(PUBLIC, "/.well-known/openintent.json"),
    "GET /.well-known/openwop": Row(PUBLIC, "/.well-known/openwop"),
    "GET /api/v1/capabilities": Row(PUBLIC, "/api/v1/capabilities"),
    "GET /openapi.json": Row(PUBLIC, "/openapi.json"),
    "GET /v1/openapi.json": Row(PUBLIC, "/v1/openapi.json"),
    "GET /docs": Row(PUBLIC, "/docs"),
    "GET /docs/{file}": Row(PUBLIC, "/docs/swagger-ui.css"),
}

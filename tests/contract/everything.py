"""A tenant with one of everything, and callers of every kind, for the authorization matrix."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.contract.bodies import (
    PRINCIPALS,
    TASKS,
    allow,
    change_task,
    create,
    create_task,
    entry,
    grant,
    semantic,
    working,
)
from tests.contract.expect import assert_no_content, ok
from tests.contract.openwop_calls import start
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import restore, sweep

SECRET = "zq-secret"
VALUE = {"told": SECRET}
CONVERSATIONS = "/api/v1/conversations"
CALLERS = (
    "none",
    "revoked",
    "foreign",
    "stranger",
    "former",
    "reader",
    "writer",
    "other",
    "admin",
    "all",
    "party",
)
"""The columns of the matrix.

none sends no key; revoked sends one that was revoked; foreign is the administrator of another
tenant; stranger, reader and writer are agents with no part in anything: with read and write, with
read alone, with write alone; former was task_1's assignee; other coordinates another task; admin is
an agent with memory.admin alone; all is a user with all permissions. party is whom the row names.
"""


@dataclass
class Everything:
    """The things' ids by name, and a client for each caller and party."""

    tenant: Tenant
    clients: dict[str, httpx.Client] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    stored: list[dict[str, Any]] = field(default_factory=list)
    archived: dict[Path, bytes] = field(default_factory=dict)

    def is_changed(self) -> bool:
        """Return whether the tables have changed since the beginning, apart from usage counts."""
        stored = sort_items(self.tenant.service.stored())
        return [each for each in stored if "#usage" not in each["pk"]["S"]] != self.stored

    def put_back(self) -> None:
        restore(self.tenant.service, self.stored)
        for path, content in self.archived.items():
            path.write_bytes(content)

    def render(self, template: Any) -> Any:
        """Fill the ids into a path or a body."""
        if isinstance(template, dict):
            return {name: self.render(value) for name, value in template.items()}
        if isinstance(template, list):
            return [self.render(each) for each in template]
        if isinstance(template, str):
            for name, id in self.ids.items():
                template = template.replace(f"<{name}>", id)
        return template


def set_up(service: Service) -> Everything:
    """Make one of everything, all of it private to alice, or to boss and alice."""
    made = Everything(service.tenant())
    _make_callers(made)
    _make_tasks(made)
    _make_entries(made)
    _make_conversations(made)
    _make_runs(made)
    made.ids["version"] = str(ok(made.clients["boss"].get(f"{TASKS}/task_1"))["version"])
    made.stored = sort_items(service.stored())
    made.archived = {
        each: each.read_bytes() for each in service.archive.rglob("*") if each.is_file()
    }
    return made


def sort_items(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Bring items and their sets into one order."""
    for item in items:
        for attribute in item.values():
            for kind in ("SS", "NS"):
                if kind in attribute:
                    attribute[kind].sort()
    return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def _make_callers(made: Everything) -> None:
    tenant, clients = made.tenant, made.clients
    clients["none"] = tenant.service.client()
    clients["revoked"] = tenant.agent("revoked")
    assert_no_content(tenant.admin.delete(f"{PRINCIPALS}/revoked"))
    clients["foreign"] = tenant.service.tenant().admin
    for id in ("alice", "stranger", "former", "guest"):
        clients[id] = tenant.agent(id)
    clients["reader"] = tenant.agent("reader", permissions=["memory.read"])
    clients["writer"] = tenant.agent("writer", permissions=["memory.write"])
    clients["admin"] = tenant.agent("auditor", permissions=["memory.admin"])
    clients["boss"], clients["other"] = tenant.coordinator("boss"), tenant.coordinator("other")
    clients["all"], clients["root"] = tenant.admin, tenant.service.root
    create_task(clients["other"], id="task_other", intent_id="intent_other")


def _make_tasks(made: Everything) -> None:
    boss, alice = made.clients["boss"], made.clients["alice"]
    ended = create_task(boss, id="task_0", assigned_agent="alice")
    create(alice, working("task_0", key="old", value=VALUE))
    ok(change_task(boss, ended, status="completed"))
    at = create_task(boss, id="task_1", assigned_agent="former", input=SECRET)
    create(made.clients["former"], working("task_1", key="first", value=VALUE))
    ok(change_task(boss, at, assigned_agent="alice"))
    ok(grant(boss, "task_1", "guest", access="read"))
    acl = {"entries": [{"principal": "guest", "access": "read"}]}
    ok(boss.put("/api/v1/intents/intent_1/acl", json=acl))
    guardrails = {"guardrails": {"max_working_memory_per_task": 50}}
    ok(made.tenant.admin.patch("/api/v1/coordinators/boss/guardrails", json=guardrails))


def _make_entries(made: Everything) -> None:
    boss, alice = made.clients["boss"], made.clients["alice"]
    allow(made.tenant.admin, "closed", "none", boss="admin")
    bodies = {
        "working": (alice, working("task_1", key="w", value=VALUE)),
        "episodic": (alice, entry(key="e", value=VALUE)),
        "semantic": (boss, semantic(namespace="closed", value=VALUE)),
    }
    for name, (client, body) in bodies.items():
        made.ids[name] = create(client, body)["id"]


def _make_conversations(made: Everything) -> None:
    alice = made.clients["alice"]
    body = {
        "user_id": "alice",
        "messages": [{"role": "user", "content": SECRET, "uses": ["f.used"]}],
    }
    ok(alice.put(f"{CONVERSATIONS}/s0", json=body | {"ttl": "PT1S"}), 201)
    made.tenant.service.clock.advance(seconds=2)
    sweep(made.tenant.service)
    ok(alice.put(f"{CONVERSATIONS}/s1", json=body), 201)
    upload = ok(alice.post(f"{CONVERSATIONS}/s1/uploads", json={}), 201)
    made.ids["upload"] = upload["upload_id"]
    ok(alice.put("/api/v1/agents/alice/state/boss/k", json={"value": SECRET}))


def _make_runs(made: Everything) -> None:
    alice = made.clients["alice"]
    run = start(alice)
    made.ids |= {"run": run.id, "ref": run.reference, "mem": run.put(SECRET)["id"]}
    log = ok(alice.post("/api/v1/runs", json={"agent_type": "sdr", "input": SECRET}), 201)
    made.ids["log"] = log["id"]
    episode = alice.post(f"/api/v1/runs/{log['id']}/episodes", json={"content": SECRET})
    made.ids["episode"] = ok(episode, 201)["id"]
    fact = {"subject": "s", "predicate": "p", "object": SECRET}
    ok(made.tenant.admin.put("/api/v1/strategies/notes", json={"kind": "facts"}), 201)
    permissions = {"allow": [{"agent": "alice", "access": "admin"}]}
    ok(made.clients["boss"].patch("/api/v1/objects/box", json={"permissions": permissions}))
    ok(alice.put("/api/v1/agents/alice/objects/box/k", content=SECRET.encode()), 201)
    ok(alice.put("/api/v1/objects/box/k", content=SECRET.encode()), 201)
    made.ids["fact"] = ok(alice.post("/api/v1/facts", json=fact), 201)["fact_id"]
    consolidation = made.tenant.admin.post("/api/v1/consolidation", json={})
    made.ids["consolidation"] = ok(consolidation, 202)["id"]
    ok(alice.put("/api/v1/instances/i1/working/k", json={"value": SECRET}))
    ok(alice.put("/api/v1/procedures/sdr/mail/w1", json={"spec": SECRET}), 201)

"""The attacks, written down.

Every attack is tried by somebody who knows all names and ids of its tenant. Each must be refused,
must leave the tables as they were, and must leave the victim's memory out of the attacker's reach.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    PRINCIPALS,
    TASKS,
    create,
    create_task,
    entry,
    grant,
    patch,
    query,
    read,
    semantic,
    task,
    working,
)
from tests.contract.expect import ok
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

INHERIT = {"inherit_from_parent": True}
ACL = "/api/v1/intents/intent_1/acl"


@dataclass(frozen=True)
class Stage:
    """alice works for boss on task_1 of intent_1; mallory has no part in any of it."""

    tenant: Tenant
    boss: httpx.Client
    alice: httpx.Client
    checkpoint: dict[str, Any]
    episode: dict[str, Any]
    own: dict[str, Any]

    def withstands(
        self, attacker: httpx.Client, attacks: dict[str, "Attack"], subtests: pytest.Subtests
    ) -> None:
        """Each attack must be refused, show nothing and change nothing."""
        before = self.tenant.service.state()
        for name, attack in attacks.items():
            answer, after = attack(self, attacker), self.tenant.service.state()
            with subtests.test(name):
                assert answer.status_code in (400, 401, 403, 409), answer.text
                assert not answer.json().keys() & {"current", "current_version"}
                assert after == before
            before = after
        assert self.reach(attacker) == []

    def reach(self, attacker: httpx.Client) -> list[str]:
        """Return what the attacker can read or write of the victims' memory."""
        victims = (self.checkpoint, self.episode)
        read_ids = [each["id"] for each in victims if read(attacker, each["id"]).is_success]
        filters: list[dict[str, str]] = [
            {"agent_id": "alice"},
            {"task_id": "task_1"},
            {"intent_id": "intent_1"},
            {"key": "secret"},
            {"key": "episode"},
        ]
        found = [each["id"] for f in filters for each in query(attacker, **f)]
        writes = attacker.post(MEMORY, json=working("task_1", key="planted"))
        return [*read_ids, *found, *(["planted"] if writes.is_success else [])]


@pytest.fixture
def stage(tenant: Tenant, clock: MovableClock) -> Stage:
    """The victims, at work."""
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    create_task(boss, id="task_1", assigned_agent="alice")
    checkpoint = create(alice, working("task_1", key="secret"))
    episode = create(alice, entry(key="episode"))
    create(alice, working("task_alone", key="alone"))
    shared = create(boss, semantic(key="rule"))
    ok(grant(boss, "task_1", "expired", access="write", expires_at=clock.time(seconds=1)))
    clock.advance(seconds=1)
    return Stage(tenant, boss, alice, checkpoint, episode, shared)


Attack = Callable[[Stage, httpx.Client], httpx.Response]


def post_task(**fields: Any) -> Attack:
    return lambda _, attacker: attacker.post(TASKS, json=task(**fields))


def post(**fields: Any) -> Attack:
    return lambda _, attacker: attacker.post(MEMORY, json=entry(**fields))


def batch(**fields: Any) -> Attack:
    return lambda _, attacker: attacker.post(BATCH, json={"entries": [fields]})


def change(path: str, **fields: Any) -> Attack:
    """An attack by a PATCH at the right version."""
    return lambda _, attacker: patch(attacker, path, 1, fields)


def send(method: str, path: str, **body: Any) -> Attack:
    return lambda _, attacker: attacker.request(method, path, json=body)


OTHERS_INTENT = "intent_mallory"
ATTACKS: dict[str, Attack] = {
    "register a taken task id": post_task(id="task_1"),
    "register a taken task id for oneself": post_task(id="task_1", assigned_agent="mallory"),
    "register a taken id in one's own intent": post_task(id="task_1", intent_id=OTHERS_INTENT),
    "register a task in another's intent": post_task(),
    "register a task of another's as sub-task that inherits": post_task(
        intent_id=OTHERS_INTENT, parent_task_id="task_1", memory_policy=INHERIT
    ),
    "register such a task for oneself": post_task(
        intent_id=OTHERS_INTENT,
        parent_task_id="task_1",
        memory_policy=INHERIT,
        assigned_agent="mallory",
    ),
    "register a sub-task that inherits from an unadopted task": post_task(
        intent_id=OTHERS_INTENT, parent_task_id="task_alone", memory_policy=INHERIT
    ),
    "become the assignee": change(f"{TASKS}/task_1", assigned_agent="mallory"),
    "become the assignee of an unadopted task": change(
        f"{TASKS}/task_alone", assigned_agent="mallory"
    ),
    "set the memory policy": change(f"{TASKS}/task_1", memory_policy={"max_entries": 100000}),
    "end another's task": change(f"{TASKS}/task_1", status="completed"),
    "grant oneself": send("PUT", f"{TASKS}/task_1/grants/mallory", access="write"),
    "grant oneself on an unadopted task": send(
        "PUT", f"{TASKS}/task_alone/grants/mallory", access="read"
    ),
    "take another's grant away": send("DELETE", f"{TASKS}/task_1/grants/expired"),
    "open another's intent to oneself": send(
        "PUT", ACL, entries=[{"principal": "mallory", "access": "write"}]
    ),
    "become the owner of another's intent": send(
        "PUT", "/api/v1/intents/intent_1/owner", principal="mallory"
    ),
    "become the coordinator": change(f"{TASKS}/task_1", coordinator="mallory"),
    "let its assignee delegate": change(f"{TASKS}/task_1", delegates=["*"]),
    "become the coordinator of an unadopted task": change(
        f"{TASKS}/task_alone", coordinator="mallory"
    ),
    "write into another's task": post(memory_type="working", scope={"task_id": "task_1"}),
    "write into an unadopted task": post(memory_type="working", scope={"task_id": "task_alone"}),
    "write into another's intent": post(scope={"intent_id": "intent_1"}),
    "take a new task id into another's intent": post(
        memory_type="working", scope={"task_id": "task_fresh", "intent_id": "intent_1"}
    ),
    "write in another's name": post(agent_id="alice", key="forged"),
    "write working memory in another's name": post(
        agent_id="alice", memory_type="working", key="forged"
    ),
    "create in another's name by a batch": batch(**entry(agent_id="alice", key="forged")),
    "update another's entry by its natural key": batch(
        agent_id="alice",
        namespace="notes",
        key="secret",
        memory_type="working",
        version=1,
        value={"by": "mallory"},
    ),
    "update another's entry by its id in a batch": lambda stage, attacker: attacker.post(
        BATCH, json={"entries": [{"id": stage.checkpoint["id"], "version": 1, "value": {}}]}
    ),
    "update another's entry": lambda stage, attacker: patch(
        attacker, f"{MEMORY}/{stage.episode['id']}", 1, {"value": {}}
    ),
    "update another's entry at a stale version": lambda stage, attacker: patch(
        attacker, f"{MEMORY}/{stage.episode['id']}", 2, {"value": {}}
    ),
    "update another's semantic entry": lambda stage, attacker: patch(
        attacker, f"{MEMORY}/{stage.own['id']}", 1, {"value": {}}
    ),
    "delete another's entry": lambda stage, attacker: attacker.delete(
        f"{MEMORY}/{stage.episode['id']}"
    ),
    "claim another's id in the header": lambda stage, attacker: attacker.get(
        f"{MEMORY}/{stage.episode['id']}", headers={"X-Agent-ID": "alice"}
    ),
    "claim another's id in the header twice": lambda _, attacker: attacker.get(
        MEMORY, headers=[("X-Agent-ID", "mallory"), ("X-Agent-ID", "alice")]
    ),
    "configure a namespace": change(
        f"{NAMESPACES}/facts", permissions={"default": "admin", "allow": []}
    ),
    "make a principal": send(
        "POST", PRINCIPALS, id="puppet", kind="user", permissions=["memory.admin"]
    ),
    "take another's key": send("POST", f"{PRINCIPALS}/alice/rotate"),
    "revoke another": send("DELETE", f"{PRINCIPALS}/alice"),
    "make a tenant": send("POST", "/api/v1/tenants", id="mallorys"),
}


@pytest.mark.parametrize("kind", ["agent", "coordinator"])
def test_attacks_are_refused_and_change_nothing(
    stage: Stage, kind: str, subtests: pytest.Subtests
) -> None:
    mallory = stage.tenant.service.client(stage.tenant.principal(kind, "mallory")["api_key"])
    stage.withstands(mallory, ATTACKS, subtests)


AGENTS_ATTACKS: dict[str, Attack] = {
    "coordinate": post_task(intent_id=OTHERS_INTENT, coordinator="mallory"),
    "coordinate another agent": post_task(
        intent_id=OTHERS_INTENT, coordinator="mallory", assigned_agent="alice"
    ),
    "assign another agent": post_task(intent_id=OTHERS_INTENT, assigned_agent="alice"),
    "name a coordinator": post_task(intent_id=OTHERS_INTENT, coordinator="boss"),
    "set the access list of an intent that nobody has named": send(
        "PUT", "/api/v1/intents/intent_new/acl", entries=[]
    ),
    "register a sub-task of another's task": post_task(
        intent_id=OTHERS_INTENT, parent_task_id="task_1"
    ),
    "adopt a task with oneself as assignee": post_task(
        id="task_alone", intent_id=OTHERS_INTENT, assigned_agent="mallory"
    ),
    "adopt a task without its assignee": post_task(id="task_alone", intent_id=OTHERS_INTENT),
    "adopt": post_task(id="task_alone", intent_id=OTHERS_INTENT, assigned_agent="alice"),
}


def test_what_only_coordinators_may_an_agent_may_not(
    stage: Stage, subtests: pytest.Subtests
) -> None:
    mallory = stage.tenant.agent("mallory")
    stage.withstands(mallory, AGENTS_ATTACKS, subtests)


def test_an_expired_grant_gives_nothing(stage: Stage) -> None:
    assert stage.reach(stage.tenant.agent("expired")) == []


def test_an_agent_that_is_named_coordinator_gains_nothing(stage: Stage) -> None:
    mallory = stage.tenant.agent("mallory")
    answer = stage.boss.post(TASKS, json=task(assigned_agent="alice", coordinator="mallory"))
    assert answer.status_code in (400, 403)
    assert stage.reach(mallory) == []

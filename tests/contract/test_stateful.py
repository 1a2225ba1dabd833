"""The API beside a plain model of RFC-0015: whatever is done in whatever order, they agree.

The model knows entries, slots, versions, expiry, capacity with eviction by priority and last
access, tasks with limits, hand-over and end. After each step all that can be seen is compared.
"""

from dataclasses import dataclass, field
from typing import Any, cast

import httpx
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.contract.bodies import MEMORY, change_task, create_task, entry, query, read, update
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Tenant
from tests.contract.sweeping import counters_equal_items, sweep

AGENTS = ("alice", "bob")
TASKS = ("t1", "t2")
CAPACITY, TASK_LIMIT = 3, 2
RANK = {"low": 0, "normal": 1, "high": 2}
HOUR = 3_600_000


@dataclass
class Known:
    """An entry as the model knows it; times are ms."""

    id: str
    agent: str
    key: str
    tier: str
    task: str | None
    value: int
    accessed: int
    expires: int | None
    pinned: bool
    priority: str
    version: int = 1
    order: int = 0


@dataclass
class Model:
    """What there should be."""

    entries: dict[tuple[str, str], Known] = field(default_factory=dict)
    assignee: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def live(self, now: int, **wanted: Any) -> list[Known]:
        """The entries that haven't expired and have these attributes."""
        alive = (e for e in self.entries.values() if e.expires is None or e.expires > now)
        return [e for e in alive if all(getattr(e, n) == v for n, v in wanted.items())]

    def victim(self, agent: str, now: int) -> Known | None:
        """What eviction takes next (RFC-0015 §2.2)."""
        loose = self.live(now, agent=agent, tier="episodic", pinned=False)
        return min(loose, key=lambda e: (RANK[e.priority], e.accessed, e.order), default=None)


class Api(RuleBasedStateMachine):
    """Does to the API what it does to the model."""

    def __init__(self, tenant: Tenant) -> None:
        super().__init__()
        self.tenant = tenant
        self.clock = tenant.service.clock
        self.model = Model()
        self.serial = 0
        self.checks = 0
        self.agents: dict[str, httpx.Client] = {a: tenant.agent(a) for a in AGENTS}
        self.boss = tenant.coordinator("boss")
        for agent in AGENTS:
            config = {"episodic": {"capacity": CAPACITY}}
            ok(tenant.admin.patch(f"/api/v1/agents/{agent}/memory/config", json=config))
        for task in TASKS:
            policy = {"max_entries": TASK_LIMIT}
            create_task(self.boss, id=task, assigned_agent="alice", memory_policy=policy)
            self.model.assignee[task] = "alice"

    def tick(self) -> None:
        """No two things happen in one millisecond, so the order of accesses is certain."""
        self.clock.advance(ms=1)

    @rule(
        agent=st.sampled_from(AGENTS),
        key=st.sampled_from("abcde"),
        tier=st.sampled_from(["working", "episodic", "episodic"]),
        task=st.sampled_from([None, *TASKS]),
        seconds=st.sampled_from([None, None, 2, 60]),
        pinned=st.booleans(),
        priority=st.sampled_from(list(RANK)),
    )
    def create(self, agent: str, key: str, tier: str, **more: Any) -> None:
        """Creates an entry, or is refused for the right reason."""
        self.tick()
        episodic = tier == "episodic"
        task = None if episodic else more["task"]
        self.serial += 1
        body = entry(key=key, memory_type=tier, value={"n": self.serial})
        body |= {"scope": {"task_id": task}} if task else {}
        body |= {"ttl": f"duration:PT{more['seconds']}S"} if more["seconds"] else {}
        body |= {"pinned": more["pinned"], "priority": more["priority"]} if episodic else {}
        answer = self.agents[agent].post(MEMORY, json=body)
        expected = self.expected(agent, key, tier, task)
        if expected is not None:
            refused(answer, *expected)
            return
        if (
            episodic
            and len(self.model.live(self.clock.now, agent=agent, tier="episodic")) >= CAPACITY
        ):
            victim = self.model.victim(agent, self.clock.now)
            assert victim is not None
            del self.model.entries[agent, victim.key]
        self.model.entries[agent, key] = Known(
            id=ok(answer, 201)["id"],
            agent=agent,
            key=key,
            tier=tier,
            task=task,
            value=self.serial,
            accessed=self.clock.now,
            expires=self.clock.now + 1000 * more["seconds"] if more["seconds"] else None,
            pinned=more["pinned"] and episodic,
            priority=more["priority"] if episodic else "normal",
            order=self.serial,
        )

    def expected(self, agent: str, key: str, tier: str, task: str | None) -> Any:
        """Why a create must be refused; None if it mustn't."""
        if self.model.live(self.clock.now, agent=agent, key=key):
            return 409, "ENTRY_EXISTS"
        if task is not None:
            if self.model.assignee[task] != agent:
                return 403, "ACCESS_DENIED"
            if task in self.model.ended:
                return 409, "TASK_CLOSED"
            if len(self.model.live(self.clock.now, task=task)) >= TASK_LIMIT:
                return 429, "CAPACITY_EXCEEDED"
        full = len(self.model.live(self.clock.now, agent=agent, tier="episodic")) >= CAPACITY
        if tier == "episodic" and full and self.model.victim(agent, self.clock.now) is None:
            return 429, "CAPACITY_EXCEEDED"
        return None

    @rule(agent=st.sampled_from(AGENTS), key=st.sampled_from("abcde"), stale=st.booleans())
    def change(self, agent: str, key: str, stale: bool) -> None:
        """Changes a value, at the right version or at a stale one."""
        self.tick()
        for known in self.model.live(self.clock.now, agent=agent, key=key):
            version = known.version - stale
            answer = update(self.agents[agent], known.id, version, value={"n": -version})
            if stale:
                assert refused(answer, 409, "VERSION_MISMATCH")["current_version"] == known.version
                return
            assert ok(answer)["version"] == version + 1
            known.version, known.value, known.accessed = version + 1, -version, self.clock.now

    @rule(agent=st.sampled_from(AGENTS), key=st.sampled_from("abcde"))
    def look(self, agent: str, key: str) -> None:
        """Reads an entry; near capacity, and once an hour, that counts for eviction."""
        self.tick()
        held = [e for e in self.model.entries.values() if (e.agent, e.tier) == (agent, "episodic")]
        for known in self.model.live(self.clock.now, agent=agent, key=key):
            assert ok(read(self.agents[agent], known.id))["value"] == {"n": known.value}
            if len(held) >= CAPACITY or self.clock.now - known.accessed > HOUR:
                known.accessed = self.clock.now

    @rule(agent=st.sampled_from(AGENTS), key=st.sampled_from("abcde"))
    def delete(self, agent: str, key: str) -> None:
        """Deletes an entry."""
        self.tick()
        for known in self.model.live(self.clock.now, agent=agent, key=key):
            assert_no_content(self.agents[agent].delete(f"{MEMORY}/{known.id}"))
            del self.model.entries[agent, key]

    @rule(task=st.sampled_from(TASKS), to=st.sampled_from(AGENTS))
    def hand_over(self, task: str, to: str) -> None:
        """Assigns a task to somebody (RFC-0015 §8)."""
        self.tick()
        at = ok(self.boss.get(f"/api/v1/tasks/{task}"))
        answer = change_task(self.boss, at, assigned_agent=to)
        if task in self.model.ended:
            refused(answer, 409, "TASK_CLOSED")
        else:
            ok(answer)
            self.model.assignee[task] = to

    @rule(task=st.sampled_from(TASKS))
    def end(self, task: str) -> None:
        """Ends a task: its memory goes."""
        self.tick()
        at = ok(self.boss.get(f"/api/v1/tasks/{task}"))
        if task not in self.model.ended:
            ok(change_task(self.boss, at, status="completed"))
            self.model.ended.add(task)
            left = {k: e for k, e in self.model.entries.items() if e.task != task}
            self.model.entries = left

    @rule(ms=st.sampled_from([500, 1500, 70_000, HOUR + 1]))
    def wait(self, ms: int) -> None:
        """Time passes; sometimes the scheduled function runs."""
        self.clock.advance(ms=ms)
        if ms > 1500:
            sweep(self.tenant.service)
            alive = self.model.live(self.clock.now)
            self.model.entries = {(e.agent, e.key): e for e in alive}

    @invariant()
    def everybody_sees_what_there_is(self) -> None:
        """Look at one agent and one task by turns: what is wrong of the other stays wrong."""
        self.checks += 1
        self.check_summary(AGENTS[self.checks % len(AGENTS)])
        self.check_task(TASKS[self.checks % len(TASKS)])
        if self.checks % 4 == 0:
            assert counters_equal_items(self.tenant.service)

    def check_summary(self, agent: str) -> None:
        summary = ok(self.agents[agent].get(f"/api/v1/agents/{agent}/memory/summary"))
        mine = self.model.live(self.clock.now, agent=agent)
        assert summary["working"]["entry_count"] == sum(e.tier == "working" for e in mine)
        assert summary["episodic"]["entry_count"] == sum(e.tier == "episodic" for e in mine)

    def check_task(self, task: str) -> None:
        seen = query(self.boss, task_id=task, memory_type="working")
        there = self.model.live(self.clock.now, task=task)
        assert {e["id"]: e["value"]["n"] for e in seen} == {e.id: e.value for e in there}

    def teardown(self) -> None:
        for agent, client in self.agents.items():
            self.check_summary(agent)
            seen = query(client, agent_id=agent)
            mine = self.model.live(self.clock.now, agent=agent)
            assert {e["key"]: (e["id"], e["version"], e["value"]["n"]) for e in seen} == {
                e.key: (e.id, e.version, e.value) for e in mine
            }
        for task in TASKS:
            self.check_task(task)
        assert counters_equal_items(self.tenant.service)


def test_the_api_and_the_model_agree(tenant: Tenant) -> None:
    examples = settings(
        max_examples=6 if tenant.service.engine.parallel else 2,  # moto copies all it has, often
        stateful_step_count=25 if tenant.service.engine.parallel else 15,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    names = iter(range(10**6))

    def machine() -> Api:
        return Api(tenant.service.tenant(f"model-{tenant.id}-{next(names)}"))

    run_state_machine_as_test(cast("Any", machine), settings=examples)

"""The API beside a plain model of RFC-0015: whatever is done in whatever order, they agree.

The model knows entries, slots, versions, expiry, capacity with eviction by priority and last
access, tasks with limits, hand-over and end. After each step all that can be seen is compared.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, change_task, create_task, entry, query, read, update
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Tenant
from tests.contract.sweeping import counters_equal_items, sweep

AGENTS = ("alice", "bob")
TASKS = ("t1", "t2")
CAPACITY, TASK_LIMIT = 3, 2
RANK = {"low": 0, "normal": 1, "high": 2}
HOUR = 3_600_000
STEPS = 50


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
    """The expected state."""

    entries: dict[tuple[str, str], Known] = field(default_factory=dict)
    assignee: dict[str, str] = field(default_factory=dict)
    former: set[tuple[str, str]] = field(default_factory=set)  # of tasks, and who had them
    ended: set[str] = field(default_factory=set)

    def live(self, now: int, **wanted: Any) -> list[Known]:
        """The entries that haven't expired and have these attributes."""
        alive = (e for e in self.entries.values() if e.expires is None or e.expires > now)
        return [e for e in alive if all(getattr(e, n) == v for n, v in wanted.items())]

    def victim(self, agent: str, now: int) -> Known | None:
        """Return the entry that eviction removes next (RFC-0015 §2.2)."""
        loose = self.live(now, agent=agent, tier="episodic", pinned=False)
        return min(loose, key=lambda e: (RANK[e.priority], e.accessed, e.order), default=None)


class Api:
    """Does to the API what it does to the model."""

    def __init__(self, tenant: Tenant, random: Random) -> None:
        self.tenant = tenant
        self.random = random
        self.clock = tenant.service.clock
        self.model = Model()
        self.serial = self.evictions = 0
        self.agents: dict[str, httpx.Client] = {a: tenant.agent(a) for a in AGENTS}
        self.boss = tenant.coordinator("boss")
        for agent in AGENTS:
            config = {"episodic": {"capacity": CAPACITY}}
            ok(tenant.admin.patch(f"/api/v1/agents/{agent}/memory/config", json=config))
        for task in TASKS:
            policy = {"max_entries": TASK_LIMIT}
            create_task(self.boss, id=task, assigned_agent="alice", memory_policy=policy)
            self.model.assignee[task] = "alice"

    def run(self) -> None:
        """Take the steps; each looks at one agent and one task, and the end at all of them."""
        steps = [self.create, self.change, self.look, self.delete, self.hand_over, self.wait]
        for number in range(STEPS):
            (step,) = self.random.choices(steps, [12, 4, 4, 1, 2, 1])
            step()
            if number == STEPS * 3 // 4:
                self.end(TASKS[0])
            self.check_summary(AGENTS[number % len(AGENTS)])
            self.check_task(TASKS[number % len(TASKS)])
            if number % 4 == 0:  # a wrong counter stays wrong, so that not each step has to look
                assert counters_equal_items(self.tenant.service)
        self.check_all()
        assert self.evictions > 0, "the steps reach too little"

    def pick(self) -> Known | None:
        live = self.model.live(self.clock.now)
        return self.random.choice(live) if live else None

    def tick(self) -> None:
        """No two things happen in one millisecond, so the order of accesses is certain."""
        self.clock.advance(ms=1)

    def is_handed_over(self, known: Known) -> bool:
        """Return whether an entry belongs to a task that has been handed over to another agent."""
        return known.task is not None and self.model.assignee[known.task] != known.agent

    def create(self) -> None:
        self.tick()
        pick = self.random.choice
        agent, key = pick(AGENTS), pick("abcdefgh")
        tier = pick(["working", "episodic", "episodic"])
        episodic, task = tier == "episodic", pick([None, *TASKS])
        seconds = pick([None, None, None, None, 2, 60])
        pinned, priority = self.random.random() < 0.2, pick(list(RANK))
        if episodic:
            task = None
        self.serial += 1
        body = entry(key=key, memory_type=tier, value={"n": self.serial})
        body |= {"scope": {"task_id": task}} if task else {}
        body |= {"ttl": f"duration:PT{seconds}S"} if seconds else {}
        body |= {"pinned": pinned, "priority": priority} if episodic else {}
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
            self.evictions += 1
            del self.model.entries[agent, victim.key]
        self.model.entries[agent, key] = Known(
            id=ok(answer, 201)["id"],
            agent=agent,
            key=key,
            tier=tier,
            task=task,
            value=self.serial,
            accessed=self.clock.now,
            expires=self.clock.now + 1000 * seconds if seconds else None,
            pinned=pinned and episodic,
            priority=priority if episodic else "normal",
            order=self.serial,
        )

    def expected(self, agent: str, key: str, tier: str, task: str | None) -> Any:
        """Why a create must be refused; None if it mustn't."""
        if self.model.live(self.clock.now, agent=agent, key=key):
            return 409, "ENTRY_EXISTS"
        if task is not None:
            if self.model.assignee[task] != agent:
                is_former = (task, agent) in self.model.former
                return (409, "TASK_REASSIGNED") if is_former else (403, "ACCESS_DENIED")
            if task in self.model.ended:
                return 409, "TASK_CLOSED"
            if len(self.model.live(self.clock.now, task=task)) >= TASK_LIMIT:
                return 429, "CAPACITY_EXCEEDED"
        full = len(self.model.live(self.clock.now, agent=agent, tier="episodic")) >= CAPACITY
        if tier == "episodic" and full and self.model.victim(agent, self.clock.now) is None:
            return 429, "CAPACITY_EXCEEDED"
        return None

    def change(self) -> None:
        """Change a value, at the right version or at a stale one."""
        self.tick()
        known, stale = self.pick(), self.random.random() < 0.25
        if known is None:
            return
        version = known.version - stale
        answer = update(self.agents[known.agent], known.id, version, value={"n": -version})
        if self.is_handed_over(known):
            refused(answer, 409, "TASK_REASSIGNED")
            return
        if stale:
            assert refused(answer, 409, "VERSION_MISMATCH")["current_version"] == known.version
            return
        assert ok(answer)["version"] == version + 1
        known.version, known.value, known.accessed = version + 1, -version, self.clock.now

    def look(self) -> None:
        self.tick()
        known = self.pick()
        if known is None:
            return
        assert ok(read(self.agents[known.agent], known.id))["value"] == {"n": known.value}
        known.accessed = self.clock.now

    def delete(self) -> None:
        self.tick()
        known = self.pick()
        if known is None:
            return
        answer = self.agents[known.agent].delete(f"{MEMORY}/{known.id}")
        if self.is_handed_over(known):
            refused(answer, 409, "TASK_REASSIGNED")
            return
        assert_no_content(answer)
        del self.model.entries[known.agent, known.key]

    def hand_over(self) -> None:
        """Assign a task to somebody (RFC-0015 §8)."""
        self.tick()
        task, to = self.random.choice(TASKS), self.random.choice(AGENTS)
        at = ok(self.boss.get(f"/api/v1/tasks/{task}"))
        answer = change_task(self.boss, at, assigned_agent=to)
        if task in self.model.ended:
            refused(answer, 409, "TASK_CLOSED")
            return
        ok(answer)
        self.model.former.add((task, self.model.assignee[task]))
        self.model.assignee[task] = to

    def end(self, task: str) -> None:
        self.tick()
        at = ok(self.boss.get(f"/api/v1/tasks/{task}"))
        ok(change_task(self.boss, at, status="completed"))
        self.model.ended.add(task)
        left = {k: e for k, e in self.model.entries.items() if e.task != task}
        self.model.entries = left

    def wait(self) -> None:
        """Let time pass; sometimes the scheduled function runs."""
        ms = self.random.choice([500, 1500, 70_000, HOUR + 1])
        self.clock.advance(ms=ms)
        if ms > 1500:
            sweep(self.tenant.service)
            alive = self.model.live(self.clock.now)
            self.model.entries = {(e.agent, e.key): e for e in alive}

    def check_summary(self, agent: str) -> None:
        summary = ok(self.agents[agent].get(f"/api/v1/agents/{agent}/memory/summary"))
        mine = self.model.live(self.clock.now, agent=agent)
        assert summary["working"]["entry_count"] == sum(e.tier == "working" for e in mine)
        assert summary["episodic"]["entry_count"] == sum(e.tier == "episodic" for e in mine)

    def check_task(self, task: str) -> None:
        seen = query(self.boss, task_id=task, memory_type="working")
        there = self.model.live(self.clock.now, task=task)
        assert {e["id"]: e["value"]["n"] for e in seen} == {e.id: e.value for e in there}

    def check_all(self) -> None:
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


@pytest.mark.parametrize("seed", [0, 2, 4, 6])  # each finds what others don't: orders, reads, tasks
def test_the_api_and_the_model_agree(tenant: Tenant, seed: int) -> None:
    Api(tenant, Random(seed)).run()  # noqa: S311 - picks what is done

"""Every row of the table, both ways."""

import itertools
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    grant,
    query,
    read,
    update,
    working,
)
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Tenant

Cast = dict[str, httpx.Client]
Scene = tuple[Cast, dict[str, dict[str, Any]]]


@pytest.fixture
def scene(tenant: Tenant) -> Scene:
    """A task that was alice's and is now bob's, and everybody who has to do with it."""
    cast = {id: tenant.agent(id) for id in ("alice", "bob", "heir", "cousin", "guest", "stranger")}
    cast |= {"boss": tenant.coordinator("boss"), "rival": tenant.coordinator("rival")}
    cast |= {"user": tenant.user("user"), "admin": tenant.admin, "scribe": tenant.agent("scribe")}
    boss, alice = cast["boss"], cast["alice"]
    task = create_task(boss, id="task_1", assigned_agent="alice")
    entries = {
        "earlier": create(alice, working("task_1", key="earlier")),
        "taskless": create(alice, working(key="taskless")),
        "episode": create(alice, entry(key="episode")),
    }
    ok(change_task(boss, task, assigned_agent="bob"))
    entries["present"] = create(cast["bob"], working("task_1", key="present"))
    inherits = {"memory_policy": {"inherit_from_parent": True}}
    create_task(boss, id="task_2", parent_task_id="task_1", assigned_agent="heir", **inherits)
    create_task(boss, id="task_3", parent_task_id="task_1", assigned_agent="cousin")
    ok(grant(boss, "task_1", "guest", access="read"))
    ok(grant(boss, "task_1", "scribe", access="write"))
    create_task(cast["rival"], id="task_9", intent_id="intent_9", assigned_agent="stranger")
    return cast, entries


READERS = {
    "earlier": {"alice", "bob", "boss", "heir", "guest", "scribe"},
    "present": {"bob", "boss", "heir", "guest", "scribe"},
    "taskless": {"alice"},
    "episode": {"alice"},
}


def test_an_entry_is_read_by_who_may_and_by_nobody_else(
    scene: Scene, subtests: pytest.Subtests
) -> None:
    cast, entries = scene
    for name, who in itertools.product(READERS, cast):
        with subtests.test(f"{who} reads {name}"):
            answer = read(cast[who], entries[name]["id"])
            if who in READERS[name]:
                assert ok(answer) == entries[name]
            else:
                refused(answer, 403, "ACCESS_DENIED")


@pytest.mark.in_process
def test_queries_show_an_entry_to_the_same_readers(scene: Scene, subtests: pytest.Subtests) -> None:
    cast, entries = scene
    for name, who in itertools.product(READERS, cast):
        each, want = entries[name], [entries[name]] if who in READERS[name] else []
        with subtests.test(f"{who} queries {name}"):
            for tier in ({}, {"memory_type": each["memory_type"]}):
                assert query(cast[who], agent_id=each["agent_id"], key=name, **tier) == want
            if each["scope"]:
                assert query(cast[who], task_id="task_1", key=name) == want
            path = f"/api/v1/agents/{each['agent_id']}/memory"
            assert ok(cast[who].get(path, params={"key": name})) == want


OWNERS = {"earlier": "alice", "present": "bob", "taskless": "alice", "episode": "alice"}


@pytest.mark.in_process
def test_private_memory_is_written_by_its_owner_alone(
    scene: Scene, subtests: pytest.Subtests
) -> None:
    cast, entries = scene
    for name, who in itertools.product(OWNERS, cast):
        if who != OWNERS[name]:
            with subtests.test(f"{who} writes {name}"):
                cannot_write(cast[who], entries[name])
    refused(update(cast["alice"], entries["earlier"]["id"], 1, value={}), 409, "TASK_REASSIGNED")
    for name in ("present", "taskless", "episode"):
        each, owner = entries[name]["id"], OWNERS[name]
        assert ok(update(cast[owner], each, 1, value={"by": "owner"}))["version"] == 2
        assert_no_content(cast[owner].delete(f"{MEMORY}/{each}"))


def cannot_write(client: httpx.Client, each: dict[str, Any]) -> None:
    """Every way to write the entry must be refused."""
    change = {"id": each["id"], "version": 1, "value": {"by": "another"}}
    for answer in (
        update(client, each["id"], 1, value={"by": "another"}),
        update(client, each["id"], 1, tags=["mine"]),
        client.delete(f"{MEMORY}/{each['id']}"),
        client.post(BATCH, json={"entries": [change]}),
    ):
        refused(answer, 403, "ACCESS_DENIED")
    filters = {"key": each["key"], "agent_id": each["agent_id"]}
    assert ok(client.delete(BATCH, params=filters)) == {"deleted": 0}


def test_a_tasks_memory_is_created_by_who_takes_part(scene: Scene) -> None:
    cast, _ = scene
    for who, client in cast.items():
        answer = client.post(MEMORY, json=working("task_1", key=f"from {who}"))
        if who in {"bob", "boss", "scribe"}:
            ok(answer, 201)
        elif who == "alice":
            refused(answer, 409, "TASK_REASSIGNED")
        else:
            refused(answer, 403, "ACCESS_DENIED")


Change = Callable[[Cast], httpx.Response]


def end(cast: Cast) -> httpx.Response:
    task = ok(cast["boss"].get(f"{TASKS}/task_9"))
    return change_task(cast["boss"], task, status="completed")


def reassign(cast: Cast) -> httpx.Response:
    task = ok(cast["boss"].get(f"{TASKS}/task_9"))
    return change_task(cast["boss"], task, assigned_agent="bob")


@pytest.fixture
def episode(tenant: Tenant) -> tuple[Cast, dict[str, Any]]:
    """An episodic entry of alice, who works on a task of boss."""
    cast = {"alice": tenant.agent("alice"), "bob": tenant.agent("bob")}
    cast |= {"boss": tenant.coordinator("boss"), "rival": tenant.coordinator("rival")}
    cast["user"] = tenant.user("user")
    made = create(cast["alice"], entry())
    refused(read(cast["boss"], made["id"]), 403, "ACCESS_DENIED")
    create_task(cast["boss"], id="task_9", assigned_agent="alice")
    return cast, made


def test_a_coordinator_reads_the_episodes_of_its_assignee(
    episode: tuple[Cast, dict[str, Any]],
) -> None:
    cast, made = episode
    assert ok(read(cast["boss"], made["id"])) == made
    assert query(cast["boss"], agent_id="alice") == [made]
    assert query(cast["boss"], agent_id="alice", memory_type="episodic") == [made]
    assert ok(cast["boss"].get("/api/v1/agents/alice/memory")) == [made]
    for who in ("rival", "bob", "user"):
        refused(read(cast[who], made["id"]), 403, "ACCESS_DENIED")
        assert query(cast[who], agent_id="alice") == []
    refused(update(cast["boss"], made["id"], 1, value={}), 403, "ACCESS_DENIED")


@pytest.mark.parametrize("change", [end, reassign])
def test_only_while_the_task_is_open_and_the_agent_assigned(
    episode: tuple[Cast, dict[str, Any]], change: Change
) -> None:
    cast, made = episode
    ok(change(cast))
    refused(read(cast["boss"], made["id"]), 403, "ACCESS_DENIED")
    assert query(cast["boss"], agent_id="alice") == []


def test_two_tasks_and_one_ended_still_read(episode: tuple[Cast, dict[str, Any]]) -> None:
    cast, made = episode
    create_task(cast["boss"], id="task_8", assigned_agent="alice")
    ok(end(cast))
    assert ok(read(cast["boss"], made["id"])) == made


@pytest.mark.parametrize("missing", ["memory.read", "memory.write"])
def test_the_permission_must_hold_beside_the_ownership(tenant: Tenant, missing: str) -> None:
    kept = [each for each in ("memory.read", "memory.write") if each != missing]
    alice = tenant.agent("alice", permissions=kept)
    if missing == "memory.write":
        refused(alice.post(MEMORY, json=entry()), 403, "ACCESS_DENIED")
        refused(alice.post(MEMORY, json=working("task_1")), 403, "ACCESS_DENIED")
        refused(alice.delete(BATCH, params={"key": "k"}), 403, "ACCESS_DENIED")
        return
    made = create(alice, entry())
    refused(read(alice, made["id"]), 403, "ACCESS_DENIED")
    refused(alice.get("/api/v1/agents/alice/memory"), 403, "ACCESS_DENIED")
    refused(alice.get("/api/v1/agents/alice/memory/summary"), 403, "ACCESS_DENIED")
    assert_no_content(alice.delete(f"{MEMORY}/{made['id']}"))

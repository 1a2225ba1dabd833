"""Several entries in one atomic write, and deletion by filter."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    change_task,
    create,
    create_task,
    entry,
    query,
    read,
    semantic,
    sized,
    update,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.faults import faulty
from tests.contract.service import Service, Tenant, names, start


@pytest.fixture
def alice(tenant: Tenant) -> httpx.Client:
    return tenant.user("alice")


def send(client: httpx.Client, *entries: dict[str, Any]) -> httpx.Response:
    return client.post(BATCH, json={"entries": list(entries)})


def test_the_largest_batch_fits_a_new_namespace(tenant: Tenant) -> None:
    entries = [semantic(key=str(n), namespace="brand/new", value={"n": n}) for n in range(50)]
    made = ok(tenant.admin.post(BATCH, json={"entries": entries}))["entries"]
    assert [each["key"] for each in made] == [str(n) for n in range(50)]
    found = ok(tenant.admin.get(MEMORY, params={"namespace": "brand/new"}))
    assert found["total"] == 50


@pytest.mark.in_process
def test_creates_and_updates_are_answered_in_their_order(alice: httpx.Client) -> None:
    old, older = create(alice, entry(key="old")), create(alice, semantic(key="older"))
    by_id = {"id": old["id"], "version": 1, "value": {"n": 2}, "tags": ["t"]}
    by_key = {
        "memory_type": "semantic",
        "namespace": "facts",
        "key": "older",
        "version": 1,
        "value": {"n": 3},
    }
    answer = send(alice, entry(key="e"), by_id, working(key="w"), by_key, semantic(key="s"))
    entries = ok(answer)["entries"]
    assert names(entries) == ["e", "old", "w", "older", "s"]
    assert [each["version"] for each in entries] == [1, 2, 1, 2, 1]
    assert entries[1] == old | {"version": 2, "value": {"n": 2}, "tags": ["t"]}
    assert entries[3] == older | {"version": 2, "value": {"n": 3}}
    assert [ok(read(alice, each["id"])) for each in entries] == entries
    assert query(alice, tags="t") == [entries[1]]


@pytest.mark.in_process
@pytest.mark.parametrize("make", [entry, working, semantic])
def test_an_update_by_natural_key(alice: httpx.Client, make: Any) -> None:
    made = create(alice, make(tags=["a"]))
    natural = {name: made[name] for name in ("namespace", "key", "memory_type")}
    (changed,) = ok(send(alice, natural | {"version": 1, "tags": ["b"]}))["entries"]
    assert changed == made | {"version": 2, "tags": ["b"]}


def test_an_update_of_semantic_memory_without_its_tier_says_what_is_missing(
    alice: httpx.Client,
) -> None:
    made = create(alice, semantic())
    natural = {"namespace": made["namespace"], "key": made["key"], "version": 1}
    problem = refused(send(alice, natural | {"tags": ["b"]}), 404, "ENTRY_NOT_FOUND")
    assert "send memory_type" in problem["detail"]


def failures(alice: httpx.Client, bob: httpx.Client) -> list[tuple[dict[str, Any], int, str]]:
    """Items that must fail, with their answers."""
    taken, bobs = create(alice, entry(key="taken")), create(bob, entry(key="bobs"))
    return [
        (entry(key="taken"), 409, "ENTRY_EXISTS"),
        ({"id": taken["id"], "version": 2, "value": {}}, 409, "VERSION_MISMATCH"),
        ({"id": bobs["id"], "version": 1, "value": {}}, 403, "ACCESS_DENIED"),
        ({"id": "mem_x", "version": 1, "value": {}}, 404, "ENTRY_NOT_FOUND"),
        (
            {
                "namespace": "notes",
                "key": "absent",
                "memory_type": "episodic",
                "version": 1,
                "value": {},
            },
            404,
            "ENTRY_NOT_FOUND",
        ),
        ({"id": taken["id"], "value": {}}, 400, "VALIDATION_ERROR"),
        ({"id": taken["id"], "version": "1", "value": {}}, 400, "VALIDATION_ERROR"),
        (
            {"id": taken["id"], "version": 1, "value": {}, "agent_id": "bob"},
            400,
            "VALIDATION_ERROR",
        ),
        (entry(key="new", value=[]), 400, "VALIDATION_ERROR"),
        (entry(key="new", agent_id="bob"), 403, "ACCESS_DENIED"),
        (entry(key="new", value=sized(65_537)), 413, "VALUE_TOO_LARGE"),
        (working("task_closed", key="new"), 409, "TASK_CLOSED"),
        (working("task_bobs", key="new"), 403, "ACCESS_DENIED"),
    ]


def test_a_failure_undoes_all_and_names_its_place(tenant: Tenant, alice: httpx.Client) -> None:
    bob = tenant.user("bob")
    create_task(bob, id="task_bobs", intent_id="intent_bob", assigned_agent="bob")
    closed = create_task(alice, id="task_closed", assigned_agent="alice")
    ok(change_task(alice, closed, status="completed"))
    before = None
    for number, (bad, status, code) in enumerate(failures(alice, bob)):
        place = number % 3
        before = before or tenant.service.state()
        batch = [semantic(key="s", tags=["x"]), working(key="w")]
        batch.insert(place, bad)
        problem = refused(send(alice, *batch), status, code)
        assert problem["index"] == place, bad
        assert tenant.service.state() == before, bad


FULL: list[tuple[list[dict[str, Any]], int]] = [
    ([entry(key="e"), working(key="a"), working(key="b"), working(key="c")], 3),
    ([entry(key="e"), working("task_small", key="a"), working("task_small", key="b")], 2),
    ([entry(key="e"), working(key="a", value=sized(1_025))], 1),
    ([working(key="a"), entry(key="e"), entry(key="f", pinned=True), entry(key="g")], 3),
]


@pytest.mark.parametrize(("batch", "place"), FULL)
def test_a_reached_limit_names_the_first_entry_beyond_it(
    tenant: Tenant, alice: httpx.Client, batch: list[dict[str, Any]], place: int
) -> None:
    limits = {"working": {"max_entries": 2, "max_total_size_kb": 1}, "episodic": {"capacity": 2}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=limits))
    create_task(alice, id="task_small", assigned_agent="alice", memory_policy={"max_entries": 1})
    problem = refused(send(alice, *batch), 429, "CAPACITY_EXCEEDED")
    assert problem["index"] == place


def test_up_to_fifty_entries(alice: httpx.Client) -> None:
    fifty = [entry(key=f"k{number}") for number in range(50)]
    assert names(ok(send(alice, *fifty))["entries"]) == names(fifty)
    one_more = [entry(namespace="more", key=f"k{number}") for number in range(51)]
    problem = refused(send(alice, *one_more), 413, "BATCH_TOO_LARGE")
    assert (problem["max"], problem["actual"]) == (50, 51)
    assert query(alice, namespace="more") == []


def test_fifty_updates(alice: httpx.Client) -> None:
    made = ok(send(alice, *[entry(key=f"k{number}") for number in range(50)]))["entries"]
    changes = [{"id": each["id"], "version": 1, "value": {"n": 2}} for each in made]
    assert {each["version"] for each in ok(send(alice, *changes))["entries"]} == {2}


@pytest.mark.parametrize(
    "entries",
    [
        [semantic(key=f"k{n}", tags=[f"t{t}" for t in range(50)]) for n in range(10)],
        [entry(key=f"k{n}", value=sized(65_536)) for n in range(50)],
        [semantic(key=f"k{n}", tags=["t"], value=sized(65_536)) for n in range(50)],
    ],
)
def test_what_one_atomic_write_cannot_hold_is_refused_whole(
    alice: httpx.Client, entries: list[dict[str, Any]]
) -> None:
    answer = send(alice, *entries)
    if answer.status_code == 200:
        assert len(query(alice)) == len(entries)
        return
    problem = refused(answer, 413, "BATCH_TOO_LARGE")
    assert "split" in problem["message"] or "fewer" in problem["message"]
    assert query(alice) == []


@pytest.mark.parametrize("other", ["stale", "missing", "foreign task", "foreign namespace", "400"])
@pytest.mark.parametrize("is_first", [True, False])
def test_the_first_of_two_failures_is_named(
    boss: httpx.Client, alice: httpx.Client, other: str, is_first: bool
) -> None:
    create_task(boss, id="task_1", assigned_agent="somebody")
    made = create(alice, entry(key="stale"))
    create(alice, entry(key="taken"))
    failing, code = {
        "stale": ({"id": made["id"], "version": 7, "value": {}}, "VERSION_MISMATCH"),
        "missing": ({"namespace": "none", "key": "k", "version": 1}, "ENTRY_NOT_FOUND"),
        "foreign task": (working("task_1"), "ACCESS_DENIED"),
        "foreign namespace": (semantic(namespace="agents/ann/n"), "ACCESS_DENIED"),
        "400": (entry(ttl="task_lifetime"), "VALIDATION_ERROR"),
    }[other]
    pair = [failing, entry(key="taken")] if is_first else [entry(key="taken"), failing]
    problem = send(alice, entry(key="free"), *pair).json()
    assert (problem["code"], problem["index"]) == (code if is_first else "ENTRY_EXISTS", 1)


def test_an_update_names_its_entry_one_way(alice: httpx.Client) -> None:
    made = create(alice, entry())
    answer = send(alice, {"id": made["id"], "key": made["key"], "version": 1, "value": {}})
    assert "not both" in refused(answer, 400, "VALIDATION_ERROR")["detail"]


def test_one_slot_twice_in_a_batch_writes_nothing(alice: httpx.Client) -> None:
    answer = send(alice, entry(), entry(value={"n": 2}))
    assert answer.status_code in (400, 409)
    assert query(alice) == []
    made = create(alice, entry())
    change = {"id": made["id"], "version": 1, "value": {"n": 2}}
    assert send(alice, change, change).status_code in (400, 409)
    assert query(alice) == [made]


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (entry(bogus=1), "entries.1.bogus"),
        (entry(expires_at="2020-01-01T00:00:00Z"), "entries.1.expires_at"),
        (entry(key="first"), "entries.1"),
        (None, "entries.1"),
    ],
)
def test_a_wrong_field_is_named_by_its_place(alice: httpx.Client, bad: Any, field: str) -> None:
    answer = send(alice, entry(key="first"), bad)
    assert [each["field"] for each in answer.json()["errors"]] == [field]
    assert answer.json()["index"] == 1


FILTERS: list[tuple[dict[str, str], set[str]]] = [
    ({"namespace": "a*"}, {"a1", "a2", "ab"}),
    ({"tags": "red,blue"}, {"a2"}),
    ({"updated_before": "2040-01-01T00:00:00Z", "namespace": "b"}, {"b"}),
    ({"scope.task_id": "task_none"}, set()),
]


@pytest.mark.parametrize(("filters", "gone"), FILTERS)
@pytest.mark.parametrize("tier", ["episodic", "semantic"])
def test_a_batch_delete_takes_what_matches(
    alice: httpx.Client, filters: dict[str, str], gone: set[str], tier: str
) -> None:
    tags = {"a1": ["red"], "a2": ["red", "blue"], "ab": ["blue"], "b": []}
    for key, own in tags.items():
        space = key.rstrip("12")
        create(alice, entry(namespace=space, key=key, tags=own, memory_type=tier))
    assert ok(alice.delete(BATCH, params=filters)) == {"deleted": len(gone)}
    assert {*names(query(alice))} == tags.keys() - gone


@pytest.mark.in_process
def test_a_batch_reads_each_namespace_once(service: Service, alice: httpx.Client) -> None:
    reads: list[str] = []

    def note(request: dict[str, Any]) -> bool:
        reads.extend(
            key["sk"]["S"] for each in request["RequestItems"].values() for key in each["Keys"]
        )
        return False

    with faulty() as dynamodb:
        other = start(service.engine, service.clock, service.key_file, key_cache_seconds=60)
        dynamodb.interrupt("batch_get_item", note, lambda: None)
        client = other.client(alice.headers["X-API-Key"])
        ok(send(client, *[semantic(key=f"k{n}", namespace="ab"[n % 2]) for n in range(6)]))
        assert ok(client.delete(BATCH, params={"namespace": "*", "memory_type": "semantic"})) == {
            "deleted": 6
        }
    assert len([key for key in reads if key.startswith("n#")]) == 2 + 2


@pytest.mark.parametrize("filters", [{}, {"memory_type": "episodic"}, {"agent_id": "alice"}])
def test_a_batch_delete_needs_a_real_filter(alice: httpx.Client, filters: dict[str, str]) -> None:
    made = create(alice, entry())
    invalid(alice.delete(BATCH, params=filters))
    assert query(alice) == [made]


def test_a_batch_delete_leaves_what_the_caller_may_not_write(
    tenant: Tenant,
) -> None:
    alice, bob = tenant.agents("alice", "bob")
    mine, bobs = create(alice, entry()), create(bob, entry())
    shared = create(tenant.admin, semantic(namespace="notes"))
    assert ok(alice.delete(BATCH, params={"namespace": "notes"})) == {"deleted": 1}
    assert ok(alice.delete(BATCH, params={"key": "k", "agent_id": "bob"})) == {"deleted": 0}
    assert ok(read(bob, bobs["id"])) == bobs
    assert ok(read(tenant.admin, shared["id"])) == shared
    refused(read(alice, mine["id"]), 404, "ENTRY_NOT_FOUND")


@pytest.mark.usefixtures("volume")
def test_a_batch_delete_takes_more_than_one_page(alice: httpx.Client) -> None:
    for first in range(0, 150, 50):
        ok(send(alice, *[entry(key=f"k{number}") for number in range(first, first + 50)]))
    kept = create(alice, entry(namespace="kept"))
    ok(update(alice, kept["id"], 1, value={}))
    assert ok(alice.delete(BATCH, params={"namespace": "notes"})) == {"deleted": 150}
    assert names(query(alice)) == ["k"]
    assert create(alice, entry(key="k1"))["version"] == 1
    invalid(alice.get(MEMORY, params={"limit": "1001"}))


def test_an_update_without_its_version_is_told_so(alice: httpx.Client) -> None:
    invalid(send(alice, {"id": create(alice, entry())["id"], "value": {}}), "entries.0.version")

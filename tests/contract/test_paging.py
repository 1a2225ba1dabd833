"""Pages that begin after another one neither skip nor repeat."""

from typing import Any

import httpx
import pytest

from functions.platform.bulk_writes import write_parallel
from functions.platform.entry_keys import parse_entry_id
from functions.platform.items import encode_key
from functions.platform.table import Table
from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    allow,
    create,
    create_task,
    entry,
    grant,
    read,
    sized,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.seeding import build_entry_puts


def read_pages(client: httpx.Client, path: str, **params: Any) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = [ok(client.get(path, params=params))]
    while "next" in pages[-1]:
        pages.append(ok(client.get(path, params=params | {"after": pages[-1]["next"]})))
    return pages


def keys(pages: list[dict[str, Any]]) -> list[str]:
    return [each["key"] for page in pages for each in page["entries"]]


@pytest.fixture
def alice(tenant: Tenant) -> httpx.Client:
    """A user with entries of all tiers in three namespaces, e0 the oldest."""
    alice = tenant.user("alice")
    for number in range(7):
        body = entry(key=f"e{number}", tags=["odd"] if number % 2 else ["even"])
        if number % 3:
            body |= {"memory_type": "semantic", "namespace": f"facts.{number % 2}"}
        create(alice, body)
        tenant.service.clock.advance(seconds=1)
    return alice


@pytest.mark.parametrize("total", ["exact", "none"])
def test_pages_after_a_cursor_show_what_stays_once(alice: httpx.Client, total: str) -> None:
    params: dict[str, Any] = {"limit": 2, "total": total}
    first = ok(alice.get(MEMORY, params=params))
    assert keys([first]) == ["e6", "e5"]
    assert first.get("total") == (7 if total == "exact" else None)
    create(alice, entry(key="new"))
    assert alice.delete(f"{MEMORY}/{first['entries'][1]['id']}").status_code == 204
    second = ok(alice.get(MEMORY, params=params | {"after": first["next"]}))
    third = ok(alice.get(MEMORY, params=params | {"after": second["next"]}))
    last = ok(alice.get(MEMORY, params=params | {"after": third["next"]}))
    assert keys([second, third, last]) == ["e4", "e3", "e2", "e1", "e0"]
    assert "next" not in last
    assert "offset" not in second


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["e6", "e5", "e4", "e3", "e2", "e1", "e0"]),
        ({"memory_type": "semantic"}, ["e5", "e4", "e2", "e1"]),
        ({"memory_type": "semantic", "namespace": "facts.*"}, ["e5", "e4", "e2", "e1"]),
        ({"memory_type": "semantic", "tags": "even"}, ["e4", "e2"]),
        ({"memory_type": "semantic", "tags_any": "even,odd"}, ["e5", "e4", "e2", "e1"]),
        ({"memory_type": "semantic", "tags": "even,odd"}, []),
        ({"key": "e4"}, ["e4"]),
        ({"agent_id": "alice"}, ["e6", "e3", "e0"]),
        ({"agent_id": "alice", "tags": "odd"}, ["e3"]),
    ],
)
def test_uncounted_pages_find_what_counted_ones_find(
    alice: httpx.Client, filters: dict[str, str], expected: list[str]
) -> None:
    assert keys(read_pages(alice, MEMORY, limit=1, total="none", **filters)) == expected
    assert keys(read_pages(alice, MEMORY, limit=3, total="exact", **filters)) == expected
    counted = ok(alice.get(MEMORY, params=filters))
    assert (keys([counted]), counted["total"]) == (expected, len(expected))


def test_a_cursor_is_for_its_caller_list_and_filters_alone(
    tenant: Tenant, alice: httpx.Client
) -> None:
    cursor = ok(alice.get(MEMORY, params={"limit": 1}))["next"]
    ok(alice.get(MEMORY, params={"limit": 5, "after": cursor, "values": "omit"}))
    others: tuple[tuple[httpx.Client, str, dict[str, str]], ...] = (
        (alice, MEMORY, {"memory_type": "semantic"}),
        (alice, "/api/v1/agents/alice/memory", {}),
        (alice, NAMESPACES, {}),
        (tenant.user("bob"), MEMORY, {}),
    )
    for client, path, params in others:
        invalid(client.get(path, params=params | {"after": cursor}), "after")
    invalid(alice.get(MEMORY, params={"after": cursor[:-2] + "AA"}), "after")
    for other in sorted({*"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg0189-_="} - {cursor[-1]}):
        invalid(alice.get(MEMORY, params={"after": cursor[:-1] + other}), "after")
    invalid(alice.get(MEMORY, params={"after": "ü"}), "after")
    invalid(alice.get(MEMORY, params={"after": cursor, "offset": 0}), "offset")


def test_a_bare_array_is_never_cut_silently(tenant: Tenant) -> None:
    alice = tenant.user("alice")
    for start in (0, 40):
        large = [entry(key=f"k{n}", value=sized(65_536)) for n in range(start, start + 40)]
        ok(alice.post(BATCH, json={"entries": large}))
    path = "/api/v1/agents/alice/memory"
    limit = refused(alice.get(path), 413, "PAGE_TOO_LARGE")["limit"]
    assert len(ok(alice.get(path, params={"limit": limit}))) == limit
    rest = ok(alice.get(path, params={"limit": limit, "offset": limit}))
    assert limit + len(rest) == 80
    small = [entry(key=f"s{n}") for n in range(40)]
    ok(alice.post(BATCH, json={"entries": small}))
    assert len(ok(alice.get(path, params={"values": "omit"}))) == 120
    assert len(ok(alice.get(path, params={"values": "omit", "limit": 100}))) == 100


def test_values_of_sensitive_entries_alone_can_be_left_out(alice: httpx.Client) -> None:
    for sensitivity in ("restricted", "confidential", "internal", None):
        body = {"namespace": "n", "key": str(sensitivity), "memory_type": "episodic", "value": {}}
        ok(alice.post(MEMORY, json=body | {"sensitivity": sensitivity}), 201)
    params = {"agent_id": "alice", "namespace": "n", "values": "ordinary"}
    listed = ok(alice.get(MEMORY, params=params))["entries"]
    shown = {each["key"] for each in listed if "value" in each}
    assert (len(listed), shown) == (4, {"internal", "None"})


def test_values_can_be_left_out(alice: httpx.Client) -> None:
    for tier in ("episodic", "semantic"):
        params = {"values": "omit", "memory_type": tier, "agent_id": "alice"}
        (whole, *_) = ok(alice.get(MEMORY, params=params))["entries"]
        assert "value" not in whole
        assert read(alice, whole["id"]).json().keys() - whole.keys() == {"value"}
    invalid(alice.get(MEMORY, params={"values": "none"}), "values")


def order(entries: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in entries]


def test_entries_of_one_moment_have_one_order_on_all_pages(tenant: Tenant) -> None:
    alice = tenant.user("alice")
    tiers = ("working", "episodic", "semantic")
    made = [entry(key=f"{t}{n}", memory_type=t, namespace=t) for t in tiers for n in range(3)]
    ok(alice.post(BATCH, json={"entries": made}))
    whole = order(ok(alice.get(MEMORY))["entries"])
    assert whole == sorted(whole, reverse=True)
    for params in ({"total": "none"}, {"total": "exact"}):
        pages = read_pages(alice, MEMORY, limit=2, **params)
        assert order([each for page in pages for each in page["entries"]]) == whole
    offsets = [ok(alice.get(MEMORY, params={"limit": 2, "offset": n})) for n in range(0, 9, 2)]
    assert order([each for page in offsets for each in page["entries"]]) == whole
    pages = read_pages(alice, MEMORY, limit=2, total="none", agent_id="alice")
    assert len(order([each for page in pages for each in page["entries"]])) == 6


def test_a_large_task_is_read_page_by_page(tenant: Tenant) -> None:
    coordinator, alice = tenant.coordinator("lead"), tenant.agent("alice")
    policy = {"max_entries": 200}
    made = create_task(coordinator, assigned_agent="alice", memory_policy=policy)
    for start in range(0, 120, 40):
        bodies = [working(made["id"], key=f"k{n}") for n in range(start, start + 40)]
        ok(alice.post(BATCH, json={"entries": bodies}))
    filters = {"scope.task_id": made["id"], "memory_type": "working"}
    whole = order(ok(alice.get(MEMORY, params=filters | {"limit": 1000}))["entries"])
    pages = read_pages(coordinator, MEMORY, limit=50, total="none", **filters)
    assert [len(page["entries"]) for page in pages] == [50, 50, 20]
    assert order([each for page in pages for each in page["entries"]]) == whole


def test_the_last_entry_is_shown_though_the_index_lags(tenant: Tenant) -> None:
    alice, service = tenant.user("alice"), tenant.service
    create(alice, entry(key="before"))
    service.clock.advance(seconds=1)
    last = create(alice, entry(key="last"))
    address, _ = parse_entry_id(tenant.id, last["id"])
    service.engine.client.update_item(
        TableName=service.engine.memory,
        Key=encode_key(address.item_key),
        UpdateExpression="REMOVE creation_order",  # as if the index didn't list it yet
    )
    page = ok(alice.get(MEMORY, params={"agent_id": "alice", "total": "none", "limit": 1}))
    assert keys([page]) == ["last"]
    assert alice.delete(f"{MEMORY}/{last['id']}").status_code == 204
    page = ok(alice.get(MEMORY, params={"agent_id": "alice", "total": "none", "limit": 1}))
    assert keys([page]) == ["before"]


def test_lists_of_every_kind_are_the_same_page_by_page(tenant: Tenant) -> None:
    coordinator, worker = tenant.coordinator("lead"), tenant.agent("worker")
    tasks = [create_task(coordinator, id=f"t{n}", assigned_agent="worker") for n in range(3)]
    intents = [create_task(coordinator, intent_id=f"i{n}") for n in range(3)]
    for number in range(3):
        grant(coordinator, "t0", f"holder-{number}", access="read")
        allow(tenant.admin, f"n{number}", "read")
        create(worker, entry(key=f"k{number}"))
        tenant.service.clock.advance(ms=number % 2)
    lists: tuple[tuple[httpx.Client, str, str], ...] = (
        (tenant.admin, "/api/v1/principals", "principals"),
        (tenant.admin, "/api/v1/agents", "agents"),
        (worker, NAMESPACES, "namespaces"),
        (coordinator, "/api/v1/intents", "intents"),
        (coordinator, "/api/v1/tasks/t0/grants", "grants"),
        (coordinator, f"/api/v1/intents/{tasks[0]['intent_id']}/tasks", ""),
        (worker, "/api/v1/agents/worker/tasks", ""),
        (worker, "/api/v1/agents/worker/memory", ""),
    )
    assert intents
    for client, path, name in lists:
        whole = ok(client.get(path))
        found = read_list(client, path, name)
        assert found == (whole[name] if name else whole), path


def read_list(client: httpx.Client, path: str, name: str) -> list[dict[str, Any]]:
    """A list, page by page; without a name it is a bare array, whose cursor is a header."""
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {"limit": 1, "total": "none"}
    while True:
        answer = client.get(path, params=params)
        page = ok(answer)
        assert "X-Total-Count" not in answer.headers
        assert "total" not in page
        found += page[name] if name else page
        cursor = page.get("next") if name else answer.headers.get("X-Next")
        if cursor is None:
            return found
        params["after"] = cursor


def test_a_page_examines_two_thousand_entries_for_what_matches(tenant: Tenant) -> None:
    alice, engine, clock = tenant.user("alice"), tenant.service.engine, tenant.service.clock
    create(alice, entry(key="rare", tags=["rare", "common"]))
    table, newest = Table(engine.client, engine.memory), clock() + 10_000
    puts = build_entry_puts(tenant.id, "alice", "episodic", range(2_010), ["common"], newest)
    write_parallel(table, puts)
    clock.advance(seconds=10)
    filters = {"agent_id": "alice", "tags": "rare,common"}
    found = ok(alice.get(MEMORY, params=filters | {"updated_after": "2020-01-01T00:00:00Z"}))
    assert (keys([found]), found["total"]) == (["rare"], 1)
    pages = read_pages(alice, MEMORY, **filters, limit=1000, total="none")
    assert [len(page["entries"]) for page in pages] == [0, 1]

"""Tenants are isolated, and names with any characters never collide."""

import itertools
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    PRINCIPALS,
    TASKS,
    allow,
    create,
    create_task,
    entry,
    grant,
    query,
    read,
    semantic,
    working,
)
from tests.contract.expect import assert_no_content, ok, only_list
from tests.contract.service import Service, Tenant, names

Pair = tuple[Tenant, Tenant]


@pytest.fixture
def pair(service: Service) -> Pair:
    """Two tenants whose names are as close as names get."""
    first = service.tenant()
    return first, service.tenant(f"{first.id}.")


def fill(tenant: Tenant, mark: str) -> dict[str, Any]:
    """Fill a tenant with the names of every other tenant; only the values differ."""
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    create_task(boss, id="task_1", assigned_agent="alice", name=mark)
    bodies = {"e": entry(key="e", tags=["t"]), "w": working("task_1", key="w", tags=["t"])}
    made = {key: create(alice, body | {"value": {"of": mark}}) for key, body in bodies.items()}
    made["s"] = create(boss, semantic(key="s", tags=["t"], value={"of": mark}))
    return made | {"boss": boss, "alice": alice}


def test_tenants_with_the_same_names_do_not_meet(pair: Pair) -> None:
    filled = [fill(tenant, tenant.id) for tenant in pair]
    for tenant, made in zip(pair, filled, strict=True):
        for client in (made["alice"], made["boss"]):
            seen = [
                query(client),
                query(client, tags="t"),
                query(client, task_id="task_1"),
                query(client, agent_id="alice"),
                ok(client.get("/api/v1/agents/alice/memory")),
            ]
            values = [each["value"]["of"] for each in itertools.chain(*seen)]
            assert values
            assert {*values} == {tenant.id}
        assert [
            each["name"] for each in ok(made["boss"].get("/api/v1/intents/intent_1/tasks"))
        ] == [tenant.id]
        ids = {each["id"] for each in only_list(ok(tenant.admin.get(PRINCIPALS)))}
        assert ids == {"boss", "alice", tenant.admin_id}
        assert len(only_list(ok(tenant.admin.get(NAMESPACES)))) == 1
        assert (
            ok(made["alice"].get("/api/v1/agents/alice/memory/summary"))["working"]["entry_count"]
            == 1
        )


def probes(entry_id: str, task_id: str, principal: str, space: str) -> list[tuple[str, str, Any]]:
    """Every call that names something by an id."""
    change = {"id": entry_id, "version": 1, "value": {}}
    return [
        ("GET", f"{MEMORY}/{entry_id}", None),
        ("PATCH", f"{MEMORY}/{entry_id}", {"value": {}}),
        ("PATCH", f"{MEMORY}/{entry_id}", {"tags": ["x"]}),
        ("DELETE", f"{MEMORY}/{entry_id}", None),
        ("POST", BATCH, {"entries": [change]}),
        ("GET", f"{TASKS}/{task_id}", None),
        ("PATCH", f"{TASKS}/{task_id}", {"status": "completed"}),
        ("PUT", f"{TASKS}/{task_id}/grants/mallory", {"access": "write"}),
        ("DELETE", f"{TASKS}/{task_id}/grants/guest", None),
        ("GET", f"{MEMORY}?scope.task_id={task_id}", None),
        ("GET", f"{MEMORY}?agent_id={principal}", None),
        ("GET", f"{MEMORY}?namespace={space}", None),
        ("GET", f"/api/v1/agents/{principal}/memory", None),
        ("GET", f"{NAMESPACES}/{space}", None),
        ("GET", f"/api/v1/intents/intent_{task_id}/tasks", None),
        ("GET", f"/api/v1/intents/intent_{task_id}/acl", None),
        ("DELETE", f"{PRINCIPALS}/{principal}", None),
        ("POST", f"{PRINCIPALS}/{principal}/rotate", None),
        ("DELETE", f"{BATCH}?scope.task_id={task_id}", None),
    ]


def ask(client: httpx.Client, probe: tuple[str, str, Any], *own: str) -> tuple[int, str]:
    """Status and text of the answer, with the ids that the caller sent itself blotted out."""
    method, path, body = probe
    answer = client.request(method, path, json=body, headers={"If-Match": "1"})
    text = answer.text
    for id in own:
        text = text.replace(id, "…")
    return answer.status_code, text


@pytest.mark.parametrize("tier", ["e", "w", "s"])
def test_anothers_ids_answer_exactly_like_unknown_ones(pair: Pair, tier: str) -> None:
    victim, other = pair
    made = fill(victim, "victim")
    allow(victim.admin, "facts", "admin")
    ok(grant(made["boss"], "task_1", "guest", access="read"))
    there = made[tier]["id"]
    nowhere = there[:-1] + ("0" if there[-1] != "0" else "1")
    known, unknown = (there, "task_1", "alice", "facts"), (nowhere, "task_0", "alicf", "facte")
    before = victim.service.state()
    for real, made_up in zip(probes(*known), probes(*unknown), strict=True):
        want = ask(other.admin, made_up, *unknown)
        assert ask(other.admin, real, *known) == want, real
    assert victim.service.state() == before


def test_a_key_belongs_to_one_tenant(pair: Pair) -> None:
    here, there = pair
    alice = here.agent("alice")
    there.agent("alice")
    assert_no_content(there.admin.delete(f"{PRINCIPALS}/alice"))
    ok(alice.get(MEMORY))
    allow(here.admin, "facts", "none")
    create(there.admin, semantic())


@pytest.mark.parametrize("tier", ["episodic", "working", "semantic"])
@pytest.mark.parametrize(
    "pairs",
    [
        [("a#b", "c"), ("a", "b#c"), ("a#b#c", "x")],
        [("ns28549", "k"), ("ns59397", "k")],  # one group of namespaces
        [("a", "b"), ("a/b", "x"), ("a:b", "a"), ("a\u0000", "b"), ("a", "\u0000b")],
    ],
)
def test_names_with_separators_never_collide(
    tenant: Tenant, tier: str, pairs: list[tuple[str, str]]
) -> None:
    client = tenant.admin
    made = [
        create(client, entry(namespace=space, key=key, memory_type=tier, value={"n": number}))
        for number, (space, key) in enumerate(pairs)
    ]
    assert len({each["id"] for each in made}) == len(pairs)
    owner = {} if tier == "semantic" else {"agent_id": made[0]["agent_id"]}
    for (space, key), each in zip(pairs, made, strict=True):
        assert ok(read(client, each["id"])) == each
        assert query(client, namespace=space, key=key, **owner) == [each]
        assert {*names(query(client, namespace=space))} == {k for s, k in pairs if s == space}


@pytest.mark.parametrize(("owners", "key"), [(["a", "a#n"], "b"), (["a#e", "a"], "#e")])
def test_no_name_reaches_another_owners_memory(tenant: Tenant, owners: list[str], key: str) -> None:
    clients = {owner: tenant.agent(owner) for owner in owners}
    made = {
        owner: create(client, entry(namespace=key, key=key, value={"of": owner}))
        for owner, client in clients.items()
    }
    for owner, client in clients.items():
        assert query(client) == query(client, key=key) == [made[owner]]
        for other in owners:
            status = 200 if other == owner else 403
            assert read(client, made[other]["id"]).status_code == status


@pytest.mark.parametrize("make", [entry, semantic])
def test_tags_with_separators_never_collide(tenant: Tenant, make: Any) -> None:
    tags = ["a", "a#", "#a", "a/b", "a:b", "a;", "é", "a\u0000", "%", "a\nb"]
    for number, tag in enumerate(tags):
        create(tenant.admin, make(key=f"k{number}", tags=[tag]))
    for number, tag in enumerate(tags):
        assert names(query(tenant.admin, tags=tag)) == [f"k{number}"]

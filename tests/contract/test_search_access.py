"""A search finds what a query finds, for each caller (RFC-0015 §2, §6.6, §9.1)."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    allow,
    change_task,
    create,
    create_task,
    entry,
    grant,
    query,
    semantic,
    working,
)
from tests.contract.expect import ok
from tests.contract.search_calls import TEA, Embed, keys_of, search
from tests.contract.service import Service, Tenant
from tests.contract.test_guardrails import guard

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]


@pytest.fixture
def ada(embed: Embed, tenant: Tenant) -> httpx.Client:  # noqa: ARG001 - its stream begins before
    return tenant.agent("ada")


def found(client: httpx.Client, **filters: Any) -> set[str]:
    """The keys that a search finds, which must be those that a query does."""
    keys = set(keys_of(search(client, "hot tea", top_k=100, **filters)))
    assert keys == {each["key"] for each in query(client, **filters)}
    return keys


def test_episodes_are_for_their_owner_and_its_coordinator(
    ada: httpx.Client, tenant: Tenant, embed: Embed
) -> None:
    boss, other = tenant.coordinator("boss"), tenant.coordinator("other")
    bob = tenant.agent("bob")
    create(ada, entry(value=TEA))
    embed()
    asked = {"memory_type": "episodic", "agent_id": "ada"}
    assert found(ada, **asked) == {"k"}
    assert [found(each, **asked) for each in (bob, boss, other, tenant.admin)] == [set()] * 4
    at = create_task(boss, id="t", assigned_agent="ada")
    assert [found(each, **asked) for each in (boss, other, bob)] == [{"k"}, set(), set()]
    ok(change_task(boss, at, status="completed"))
    assert found(boss, **asked) == set()


def test_working_memory_is_found_by_who_reads_the_task(
    ada: httpx.Client, tenant: Tenant, embed: Embed
) -> None:
    boss, bob, eve = tenant.coordinator("boss"), tenant.agent("bob"), tenant.agent("eve")
    mine = create_task(boss, id="mine", assigned_agent="ada")
    create_task(boss, id="granted", intent_id="i2", assigned_agent="ada")
    create(ada, working("mine", key="of mine", value=TEA))
    create(ada, working("granted", key="of granted", value=TEA))
    create(ada, working(key="of none", value=TEA))
    ok(grant(boss, "granted", "eve", access="read"))
    ok(change_task(boss, mine, assigned_agent="bob"))
    embed()
    asked = {"memory_type": "working", "agent_id": "ada"}
    assert found(ada, **asked) == {"of mine", "of granted", "of none"}
    assert found(boss, **asked) == {"of mine", "of granted"}
    assert found(bob, **asked) == {"of mine"}
    assert found(eve, **asked) == {"of granted"}
    assert found(tenant.agent("nobody"), **asked) == set()


def test_semantic_memory_is_found_in_readable_namespaces(
    ada: httpx.Client, tenant: Tenant, embed: Embed
) -> None:
    for name in ("shop.open", "shop.closed", "shop.denied"):
        create(tenant.admin, semantic(namespace=name, key=name, value=TEA))
    allow(tenant.admin, "shop.closed", "none", admin="write")
    embed()
    asked = {"memory_type": "semantic"}
    assert found(ada, **asked) == {"shop.open", "shop.denied"}
    boss = tenant.coordinator("boss")
    guard(tenant, "boss", denied_semantic_namespaces=["shop.denied"])
    create_task(boss, id="t", assigned_agent="ada")
    for namespace in ({}, {"namespace": "shop.*"}):
        assert found(ada, **asked, **namespace) == {"shop.open"}
        assert found(tenant.admin, **asked, **namespace) == {
            f"shop.{n}" for n in ("open", "closed", "denied")
        }
    for name in ("shop.closed", "shop.denied", "shop.none"):
        assert found(ada, **asked, namespace=name) == set()


def test_a_search_finds_nothing_of_other_tenants(service: Service, embed: Embed) -> None:
    first, second = service.tenant(), service.tenant()
    one, two = first.agent("ada"), second.agent("ada")
    create(one, entry(value=TEA))
    create(first.admin, semantic(namespace="n", value=TEA))
    embed()
    assert found(one, memory_type="episodic") == {"k"}
    assert found(two, memory_type="episodic", agent_id="ada") == set()
    create(second.admin, semantic(namespace="n", key="own", value={"n": 1}))
    embed()
    assert found(two, memory_type="semantic", namespace="n") == {"own"}

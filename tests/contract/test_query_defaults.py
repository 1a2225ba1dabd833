"""Contract §4: what a query finds that names no owner or no tier."""

import pytest

from tests.contract.bodies import (
    MEMORY,
    create,
    entry,
    query,
    semantic,
    working,
)
from tests.contract.expect import invalid, ok
from tests.contract.service import Tenant, names


def test_an_agents_query_defaults_to_itself_and_the_shared(tenant: Tenant) -> None:
    alice, bob = tenant.agents("alice", "bob")
    own = {create(alice, entry(key="e"))["id"], create(alice, working(key="w"))["id"]}
    create(bob, entry(key="bobs"))
    shared = create(tenant.admin, semantic(key="s"))
    assert {each["id"] for each in query(alice)} == own | {shared["id"]}
    assert {each["id"] for each in query(alice, agent_id="alice")} == own
    assert names(query(alice, memory_type="episodic")) == ["e"]
    assert names(query(alice, memory_type="working")) == ["w"]
    assert query(alice, agent_id="bob") == query(alice, agent_id="nobody") == []


@pytest.mark.parametrize("kind", ["coordinator", "user"])
def test_others_name_the_agent_or_the_task_for_private_tiers(tenant: Tenant, kind: str) -> None:
    client = tenant.service.client(tenant.principal(kind, "pat")["api_key"])
    own, shared = create(client, entry(key="own")), create(client, semantic(key="shared"))
    assert {each["id"] for each in query(client)} == {own["id"], shared["id"]}
    for tier in ("working", "episodic"):
        invalid(client.get(MEMORY, params={"memory_type": tier}), "agent_id")
        ok(client.get(MEMORY, params={"memory_type": tier, "agent_id": "nobody"}))
        ok(client.get(MEMORY, params={"memory_type": tier, "scope.task_id": "task_1"}))
    assert query(client, memory_type="semantic") == [shared]

"""A page of shared memory in more namespaces than a page could read one by one."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import BATCH, MEMORY, allow, create, query, read, semantic, update
from tests.contract.expect import assert_no_content, ok
from tests.contract.service import Tenant
from tests.contract.test_paging import keys, read_pages

_MANY, _AT_ONCE = 51, 17


@pytest.fixture
def writer(tenant: Tenant) -> httpx.Client:
    """A user with an entry in each of 51 namespaces with a prefix, k0 the oldest, and others."""
    writer = tenant.user("writer")
    create(writer, semantic(namespace="manual", key="without the prefix"))
    for first in range(0, _MANY, _AT_ONCE):
        bodies = [
            semantic(namespace=f"many.{number}", key=f"k{number}", tags=["rare"][number % 10 :])
            for number in range(first, first + _AT_ONCE)
        ]
        ok(writer.post(BATCH, json={"entries": bodies}))
        tenant.service.clock.advance(seconds=1)
    create(writer, semantic(namespace="other", key="newest"))
    return writer


def pages(client: httpx.Client, **filters: Any) -> list[str]:
    params = {"memory_type": "semantic", "namespace": "many.*", "total": "none", "limit": 20}
    return keys(read_pages(client, MEMORY, **(params | filters)))


def test_pages_over_many_namespaces_show_each_entry_once_newest_first(
    tenant: Tenant, writer: httpx.Client
) -> None:
    reader = tenant.agent("reader")
    shown = pages(writer)
    assert sorted(shown) == sorted(f"k{number}" for number in range(_MANY))
    counted = ok(writer.get(MEMORY, params={"namespace": "many.*", "limit": 60}))
    assert (keys([counted]), counted["total"]) == (shown, _MANY)
    assert pages(writer, tags="rare") == [key for key in shown if key.endswith("0")]
    assert pages(writer, key="k7") == ["k7"]
    assert pages(writer, namespace="*")[:1] == ["newest"]
    allow(tenant.admin, "many.7", "none")
    assert pages(reader) == [key for key in shown if key != "k7"]


def test_pages_over_many_namespaces_follow_changes_and_removals(writer: httpx.Client) -> None:
    (changed,), (removed,) = (query(writer, namespace=f"many.{number}") for number in (3, 4))
    ok(update(writer, changed["id"], 1, tags=["rare"]))
    assert_no_content(writer.delete(f"{MEMORY}/{removed['id']}"))
    assert "k4" not in pages(writer)
    assert "k3" in pages(writer, tags="rare")
    create(writer, semantic(namespace="many.4", key="k4"))
    assert pages(writer)[0] == "k4"
    assert read(writer, removed["id"]).status_code == 404

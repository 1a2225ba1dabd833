"""RFC-0015 §9.3: deleting entries."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, create, entry, query, read, semantic, working
from tests.contract.expect import assert_no_content, refused
from tests.contract.service import Tenant

TIERS = [working(), entry(), semantic()]


def delete(client: httpx.Client, entry_id: str, **headers: str) -> httpx.Response:
    return client.delete(f"{MEMORY}/{entry_id}", headers=headers)


@pytest.mark.parametrize("body", TIERS)
def test_a_deleted_entry_is_not_found_any_more(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    doomed, kept = create(alice, body | {"tags": ["t"]}), create(alice, body | {"key": "kept"})
    assert_no_content(delete(alice, doomed["id"]))
    refused(read(alice, doomed["id"]), 404, "ENTRY_NOT_FOUND")
    refused(delete(alice, doomed["id"]), 404, "ENTRY_NOT_FOUND")
    assert query(alice, tags="t") == []
    assert query(alice) == [kept]


@pytest.mark.parametrize("body", TIERS)
def test_a_deleted_value_is_no_longer_stored(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"value": {"word": "xylophone"}, "tags": ["zither"]})
    assert "xylophone" in str(tenant.service.stored())
    assert_no_content(delete(alice, made["id"]))
    assert "xylophone" not in str(tenant.service.stored())


@pytest.mark.parametrize("body", TIERS)
def test_if_match_guards_a_delete(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body)
    problem = refused(delete(alice, made["id"], **{"If-Match": "2"}), 409, "VERSION_MISMATCH")
    assert (problem["current_version"], problem["current"]) == (1, made)
    assert_no_content(delete(alice, made["id"], **{"If-Match": '"1"'}))

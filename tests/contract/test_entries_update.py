"""RFC-0015 §3: changing entries."""

from typing import Any

import pytest

from tests.contract.bodies import (
    create,
    entry,
    query,
    read,
    semantic,
    update,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

TIERS = [working(), entry(), semantic()]
CHANGES: list[dict[str, Any]] = [
    {"tags": []},
    {"value": {"m": 2}, "tags": ["x"], "sensitivity": "public"},
]


@pytest.mark.moto
@pytest.mark.parametrize("body", TIERS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_patch_changes_what_it_names_and_nothing_else(
    tenant: Tenant, clock: MovableClock, body: dict[str, Any], change: dict[str, Any]
) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"tags": ["a", "b"], "value": {"n": 1, "old": True}})
    clock.advance(seconds=7)
    changed = ok(update(alice, made["id"], 1, **change))
    assert changed == made | change | {"version": 2, "updated_at": clock.time()}
    assert ok(read(alice, made["id"])) == changed
    assert query(alice) == [changed]


@pytest.mark.in_process
@pytest.mark.parametrize("change", [{"pinned": True}, {"priority": "low"}, {"priority": "high"}])
def test_episodic_entries_may_be_pinned_and_prioritized(
    tenant: Tenant, change: dict[str, Any]
) -> None:
    made = create(tenant.admin, entry())
    changed = ok(update(tenant.admin, made["id"], 1, **change))
    assert changed == made | change | {"version": 2}
    back = ok(update(tenant.admin, made["id"], 2, pinned=False, priority="normal"))
    assert back == made | {"version": 3}


def test_a_bad_patch_changes_nothing(tenant: Tenant) -> None:
    made = create(tenant.admin, semantic())
    for change in ({"value": None}, {"tags": "a"}, {"scope": None}, {"pinned": True}):
        invalid(update(tenant.admin, made["id"], 1, **change), *change)
    assert ok(read(tenant.admin, made["id"])) == made


@pytest.mark.moto
@pytest.mark.parametrize("body", TIERS)
def test_a_stale_version_changes_nothing(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body)
    second = ok(update(alice, made["id"], 1, value={"n": 2}))
    for change in ({"value": {"n": 3}}, {"tags": ["late"]}, {"ttl": "duration:PT1H"}):
        problem = refused(update(alice, made["id"], 1, **change), 409, "VERSION_MISMATCH")
        assert (problem["current_version"], problem["current"]) == (2, second)
    assert ok(read(alice, made["id"])) == second


@pytest.mark.parametrize("body", TIERS)
def test_queries_follow_changed_tags_at_once(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"tags": ["old", "stays"]})
    changed = ok(update(alice, made["id"], 1, tags=["stays", "new"]))
    assert query(alice, tags="old") == []
    for filters in ({"tags": "new"}, {"tags": "stays,new"}, {"tags_any": "old,new"}):
        assert query(alice, **filters) == [changed]
    valued = ok(update(alice, made["id"], 2, value={"n": 9}))
    assert query(alice, tags="new") == [valued]

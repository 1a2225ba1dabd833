"""`ttl` and `expires_at`."""

from typing import Any

import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
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
DAY = 86_400


def test_a_malformed_lifetime_is_refused(tenant: Tenant) -> None:
    made = create(tenant.admin, entry())
    for field, value in (("ttl", "forever"), ("expires_at", "2020-01-01T00:00:00Z")):
        invalid(tenant.admin.post(MEMORY, json=entry(key="new", **{field: value})), field)
        invalid(update(tenant.admin, made["id"], 1, **{field: value}), field)
    assert query(tenant.admin) == [made]


@pytest.mark.parametrize("body", TIERS)
def test_an_expired_entry_is_not_found_from_its_instant_on(
    tenant: Tenant, clock: MovableClock, body: dict[str, Any]
) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"ttl": "duration:PT10S", "tags": ["t"]})
    clock.advance(seconds=10, ms=-1)
    assert ok(read(alice, made["id"])) == made
    assert query(alice, tags="t") == [made]
    clock.advance(ms=1)
    for answer in (
        read(alice, made["id"]),
        update(alice, made["id"], 1, value={"n": 2}),
        update(alice, made["id"], 1, ttl=None),
        alice.delete(f"{MEMORY}/{made['id']}"),
    ):
        refused(answer, 404, "ENTRY_NOT_FOUND")
    for filters in ({}, {"tags": "t"}, {"tags_any": "t"}, {"key": "k"}, {"namespace": "*"}):
        page = ok(alice.get(MEMORY, params=filters))
        assert (page["entries"], page["total"]) == ([], 0)
    assert ok(alice.get("/api/v1/agents/alice/memory")) == []


@pytest.mark.parametrize("body", TIERS)
def test_an_expired_entry_is_no_longer_there_for_a_batch(
    tenant: Tenant, clock: MovableClock, body: dict[str, Any]
) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"ttl": "duration:PT10S"})
    clock.advance(seconds=10)
    change = {"id": made["id"], "version": 1, "value": {"n": 2}}
    refused(alice.post(BATCH, json={"entries": [change]}), 404, "ENTRY_NOT_FOUND")
    assert ok(alice.delete(BATCH, params={"key": "k"}))["deleted"] == 0
    (new,) = ok(alice.post(BATCH, json={"entries": [body]}))["entries"]
    assert (new["version"], new["expires_at"]) == (1, None)


def test_a_given_moment_is_answered_in_the_services_form(tenant: Tenant) -> None:
    made = create(tenant.admin, entry(expires_at="2040-02-29T12:00:00Z"))
    assert made["expires_at"] == "2040-02-29T12:00:00.000Z"


def test_a_ttl_counts_from_the_patch_that_sets_it(tenant: Tenant, clock: MovableClock) -> None:
    alice = tenant.user("alice")
    made = create(alice, semantic(ttl="duration:PT1H"))
    clock.advance(seconds=60)
    changed = ok(update(alice, made["id"], 1, ttl="duration:PT2H"))
    assert changed["expires_at"] == clock.time(seconds=7200)
    clock.advance(seconds=3600)
    assert ok(read(alice, made["id"])) == changed
    endless = ok(update(alice, made["id"], 2, ttl=None))
    assert (endless["ttl"], endless["expires_at"]) == (None, None)
    clock.advance(seconds=100 * DAY)
    assert query(alice, key="k") == [endless]

"""Expired items are removed as by DynamoDB's TTL, except for entries."""

from threading import Event
from typing import Any

import pytest

from functions.local.background_tasks import remove_expired_items
from tests.contract.bodies import create, entry, semantic
from tests.contract.expect import assert_no_content
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import items
from tests.contract.transport import MovableClock

DAY = 86_400


@pytest.fixture
def stage(service: Service, tenant: Tenant, clock: MovableClock) -> Any:
    """A notice that outlives its time, entries that have expired, and others."""
    made = create(tenant.admin, entry(key="deleted"))
    assert_no_content(tenant.admin.delete(f"/api/v1/memory/{made['id']}"))
    for body in (entry(key="expired"), semantic(key="expired", tags=["a"])):
        create(tenant.admin, body | {"ttl": "duration:PT10S"})
    create(tenant.admin, semantic(key="kept"))
    assert (len(items(service, "z#")), len(items(service, "x#"))) == (1, 3)
    clock.advance(seconds=DAY)


@pytest.mark.usefixtures("stage")
def test_expired_items_are_removed_except_for_entries(
    service: Service, clock: MovableClock
) -> None:
    client, table = service.engine.client, service.engine.memory
    clock.advance(seconds=-1)
    assert remove_expired_items(client, table, clock, Event()) == 2
    assert len(items(service, "z#")) == 1
    clock.advance(seconds=2)  # DynamoDB counts in whole seconds
    assert remove_expired_items(client, table, clock, Event()) == 1
    assert remove_expired_items(client, table, clock, Event()) == 0
    assert (len(items(service, "z#")), len(items(service, "x#"))) == (0, 1)
    assert len(items(service, "e#")) == 3


@pytest.mark.usefixtures("stage")
def test_it_stops_when_the_server_ends(service: Service, clock: MovableClock) -> None:
    ending = Event()
    ending.set()
    assert remove_expired_items(service.engine.client, service.engine.memory, clock, ending) == 0
    assert len(items(service, "z#")) == 1

"""A repeated request gives its key again, and no request ever revives one."""

from dataclasses import replace

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.bodies import MEMORY, NAMESPACES, PRINCIPALS, TASKS, create_task
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.transport import HandlerTransport, open_client, turns

ONCE = {"Idempotency-Key": "once"}
ALICE = {"id": "alice", "kind": "agent"}


def make(admin: httpx.Client) -> str:
    key: str = ok(admin.post(PRINCIPALS, json=ALICE, headers=ONCE), 201)["api_key"]
    return key


def test_a_repeated_creation_gives_the_same_key(tenant: Tenant) -> None:
    assert make(tenant.admin) == make(tenant.admin)
    other = tenant.admin.post(PRINCIPALS, json=ALICE | {"kind": "user"}, headers=ONCE)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")


@pytest.mark.in_process
def test_a_repeated_creation_gives_the_same_key_after_a_change_of_the_root_key(
    tenant: Tenant, service: Service
) -> None:
    first = make(tenant.admin)
    changed = replace(service.settings(), root_key="another-root-key-of-the-operator")
    handler = App(Container(changed, service.clock))
    transport = HandlerTransport(handler, turns(parallel=service.engine.parallel))
    assert make(open_client(transport, tenant.admin.headers["X-API-Key"])) == first


def test_a_repeated_rotation_gives_the_same_key(tenant: Tenant, service: Service) -> None:
    make(tenant.admin)
    rotated = [
        ok(tenant.admin.post(f"{PRINCIPALS}/alice/rotate", headers=ONCE | {"Idempotency-Key": "r"}))
        for _ in range(2)
    ]
    assert rotated[0]["api_key"] == rotated[1]["api_key"]
    ok(service.client(rotated[0]["api_key"]).get(MEMORY))


def test_no_request_revives_a_revoked_key(tenant: Tenant, service: Service) -> None:
    first = make(tenant.admin)
    assert_no_content(tenant.admin.delete(f"{PRINCIPALS}/alice"))
    anew = ALICE | {"reuse": True}
    refused(tenant.admin.post(PRINCIPALS, json=anew, headers=ONCE), 409, "IDEMPOTENCY_CONFLICT")
    assert ok(tenant.admin.post(PRINCIPALS, json=anew), 201)["api_key"] != first
    refused(service.client(first).get(MEMORY), 401, "UNAUTHENTICATED")


def test_no_request_revives_a_rotated_key(tenant: Tenant, service: Service) -> None:
    path = f"{PRINCIPALS}/alice/rotate"
    make(tenant.admin)
    first = ok(tenant.admin.post(path, headers={"Idempotency-Key": "r1"}))["api_key"]
    second = ok(tenant.admin.post(path, headers={"Idempotency-Key": "r2"}))["api_key"]
    late = tenant.admin.post(path, headers={"Idempotency-Key": "r1"})
    refused(late, 409, "ENTRY_EXISTS")
    refused(service.client(first).get(MEMORY), 401, "UNAUTHENTICATED")
    ok(service.client(second).get(MEMORY))


def test_a_late_retry_does_not_undo_a_namespaces_later_change(tenant: Tenant) -> None:
    path = f"{NAMESPACES}/facts"
    first, second = ({"permissions": {"default": access}} for access in ("read", "none"))
    ok(tenant.admin.patch(path, json=first, headers=ONCE))
    after = ok(tenant.admin.patch(path, json=second))
    refused(tenant.admin.patch(path, json=first, headers=ONCE), 409, "VERSION_MISMATCH")
    assert ok(tenant.admin.get(path)) == after


def test_names_may_look_like_paths(tenant: Tenant) -> None:
    made = create_task(tenant.admin, id="x/grants/y")
    assert ok(tenant.admin.get(f"{TASKS}/x%2Fgrants%2Fy")) == made

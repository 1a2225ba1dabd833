"""Keys, and how they come to an end."""

from pathlib import Path

import pytest

from tests.contract.bodies import MEMORY, PRINCIPALS, create, entry, read
from tests.contract.engines import Engine
from tests.contract.expect import assert_no_content, ok, only_list, refused
from tests.contract.service import ROOT_KEY, Service, Tenant, start
from tests.contract.transport import MovableClock

ALL = ["memory.admin", "memory.read", "memory.write"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-API-Key": ""},
        {"X-API-Key": "am_nobodys"},
        {"X-API-Key": "x" * 5000},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer am_nobodys"},
        {"Authorization": "am_nobodys"},
    ],
)
def test_a_request_without_a_valid_key_is_refused(
    service: Service, headers: dict[str, str]
) -> None:
    for method, path in (("GET", MEMORY), ("POST", MEMORY), ("GET", PRINCIPALS)):
        answer = service.client().request(method, path, headers=headers)
        refused(answer, 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("form", ["X-API-Key: {}", "Authorization: Bearer {}"])
def test_a_key_is_read_from_either_header(service: Service, tenant: Tenant, form: str) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    name, _, value = form.format(key).partition(": ")
    ok(service.client().get(MEMORY, headers={name: value}))


def test_only_the_bearer_scheme_carries_a_key(service: Service, tenant: Tenant) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    answer = service.client().get(MEMORY, headers={"Authorization": f"Basic {key}"})
    refused(answer, 401, "UNAUTHENTICATED")


def test_a_key_with_one_other_character_is_refused(service: Service, tenant: Tenant) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    for wrong in (key[:-1], key + "a", key.swapcase(), key[:-1] + ("a" if key[-1] != "a" else "b")):
        refused(service.client(wrong).get(MEMORY), 401, "UNAUTHENTICATED")


def test_agent_id_header_must_be_the_principals_own(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    tenant.agent("bob")
    ok(alice.get(MEMORY, headers={"X-Agent-ID": "alice"}))
    for other in ("bob", "nobody", "ALICE", ""):
        refused(alice.get(MEMORY, headers={"X-Agent-ID": other}), 403, "ACCESS_DENIED")


@pytest.fixture
def careful(engine: Engine, service: Service, key_file: Path) -> Service:
    """A function that caches no key."""
    return start(engine, service.clock, key_file, key_cache_seconds=0)


def test_a_revoked_key_is_refused_at_once(tenant: Tenant, careful: Service) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    ok(careful.client(key).get(MEMORY))
    assert_no_content(tenant.admin.delete(f"{PRINCIPALS}/alice"))
    refused(careful.client(key).get(MEMORY), 401, "UNAUTHENTICATED")
    left = only_list(ok(tenant.admin.get(PRINCIPALS)))
    assert [each["id"] for each in left] == [tenant.admin_id]
    refused(tenant.admin.delete(f"{PRINCIPALS}/alice"), 404, "NOT_FOUND")


def test_a_rotated_key_is_refused_at_once_and_the_new_one_works(
    tenant: Tenant, careful: Service
) -> None:
    old = tenant.principal("agent", "alice")["api_key"]
    mine = create(careful.client(old), entry())
    new = ok(tenant.admin.post(f"{PRINCIPALS}/alice/rotate"))["api_key"]
    refused(careful.client(old).get(MEMORY), 401, "UNAUTHENTICATED")
    assert ok(read(careful.client(new), mine["id"])) == mine
    refused(tenant.admin.post(f"{PRINCIPALS}/nobody/rotate"), 404, "NOT_FOUND")


@pytest.mark.parametrize("change", ["revoke", "rotate"])
def test_another_process_rejects_a_changed_key_within_a_minute(
    tenant: Tenant, service: Service, engine: Engine, key_file: Path, change: str
) -> None:
    other = start(engine, service.clock, key_file, key_cache_seconds=60)
    key = tenant.principal("agent", "alice")["api_key"]
    ok(other.client(key).get(MEMORY))
    if change == "revoke":
        assert_no_content(tenant.admin.delete(f"{PRINCIPALS}/alice"))
    else:
        ok(tenant.admin.post(f"{PRINCIPALS}/alice/rotate"))
    service.clock.advance(seconds=60)
    refused(other.client(key).get(MEMORY), 401, "UNAUTHENTICATED")


def test_a_key_expires_at_its_instant(tenant: Tenant, clock: MovableClock) -> None:
    alice = tenant.agent("alice", expires_at=clock.time(seconds=10))
    clock.advance(seconds=10, ms=-1)
    ok(alice.get(MEMORY))
    clock.advance(ms=1)
    refused(alice.get(MEMORY), 401, "UNAUTHENTICATED")


def test_keys_are_stored_only_as_a_hash(service: Service, tenant: Tenant) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    stored = str(service.stored())
    assert "alice" in stored
    assert key not in stored
    assert key.removeprefix("am_") not in stored
    assert ROOT_KEY not in stored

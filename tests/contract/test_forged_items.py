"""A principal, API key or deletion that the service did not write has no effect.

Each test writes to the table as somebody does who reaches the database, but not the service's keys.
"""

import hmac
import io

import httpx
import pytest

from functions.deletions.model import SETTLING_TIME
from functions.identity.store import build_api_key_key
from functions.platform import item_types
from functions.platform.item_types import API_KEY, DEPLOYMENT_SECRET
from functions.platform.items import Item, decode_item, encode_item, encode_key
from functions.platform.keys import Key
from functions.platform.macs import ItemSeals
from tests.contract import openwop_calls
from tests.contract.bodies import (
    MEMORY,
    PRINCIPALS,
    create,
    entry,
    query,
)
from tests.contract.expect import ok, refused
from tests.contract.service import Service, Tenant, start
from tests.contract.sweeping import items, sweep
from tests.contract.transport import BASE_URL

ALL = {"memory.read", "memory.write", "memory.admin"}


def get_item(service: Service, key: Key) -> Item:
    found = service.engine.client.get_item(TableName=service.engine.memory, Key=encode_key(key))
    return decode_item(found["Item"])


def put_item(service: Service, key: Key, item: Item) -> None:
    """Write an item past the service."""
    attributes = {name: value for name, value in item.items() if name not in ("pk", "sk")}
    service.engine.client.put_item(
        TableName=service.engine.memory, Item=encode_key(key) | encode_item(attributes)
    )


def another(service: Service) -> Service:
    """Another instance of the function, which has no principal in its memory."""
    return start(service.engine, service.clock, service.key_file, 60)


def key_of(client: httpx.Client) -> str:
    return client.headers["X-API-Key"]


def test_a_forged_key_authenticates_nobody(service: Service, tenant: Tenant) -> None:
    forged = {"tenant": tenant.id, "id": "admin", "kind": "user", "created_at": 0}
    put_item(service, build_api_key_key("mine"), forged | {"permissions": ALL})
    refused(service.client("mine").get("/api/v1/me"), 401, "UNAUTHENTICATED")


def test_the_copy_of_a_key_under_another_is_none(service: Service, tenant: Tenant) -> None:
    item = get_item(service, build_api_key_key(key_of(tenant.admin)))
    put_item(service, build_api_key_key("mine"), item)
    refused(service.client("mine").get("/api/v1/me"), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "change",
    [
        {"permissions": ALL},
        {"kind": "user"},
        {"id": "admin"},
        {"tenant": "tenant-other"},
        {"agent_type": "planner"},
        {"expires_at": 2**53},
        {"seal": b"\0" * 32},
        {"seal": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_key_is_none(service: Service, tenant: Tenant, change: Item) -> None:
    eve = tenant.agent("eve", permissions=["memory.read"])
    key = build_api_key_key(key_of(eve))
    item = get_item(service, key) | change
    put_item(service, key, {name: value for name, value in item.items() if value is not None})
    refused(another(service).client(key_of(eve)).get(MEMORY), 401, "UNAUTHENTICATED")


def test_a_changed_principal_is_none(service: Service, tenant: Tenant) -> None:
    tenant.agent("eve", permissions=["memory.read"])
    key = item_types.PRINCIPAL.build_key(tenant.id, principal="eve")
    put_item(service, key, get_item(service, key) | {"permissions": ALL})
    listed = ok(tenant.admin.get(PRINCIPALS))["principals"]
    assert [each["id"] for each in listed] == ["admin"]
    refused(tenant.admin.post(f"{PRINCIPALS}/eve/rotate"), 404, "NOT_FOUND")


def test_a_secret_that_somebody_else_chose_seals_nothing(service: Service, tenant: Tenant) -> None:
    secret = "chosen-by-whoever-writes-the-table"
    put_item(service, DEPLOYMENT_SECRET.build_key(), {"value": secret})
    transport = _forge_with(service, tenant, secret).transport
    client = httpx.Client(transport=transport, base_url=BASE_URL, headers={"X-API-Key": "mine"})
    assert client.get("/api/v1/me").status_code == 503


def _forge_with(service: Service, tenant: Tenant, secret: str) -> Service:
    key = build_api_key_key("mine")
    seals = ItemSeals(lambda purpose: hmac.digest(secret.encode(), purpose, "sha256"))
    forged = {"tenant": tenant.id, "id": "admin", "kind": "user", "created_at": 0}
    put_item(service, key, seals.seal(API_KEY, key, forged | {"permissions": ALL}))
    return another(service)


@pytest.mark.in_process
def test_a_forged_deletion_deletes_nothing(
    service: Service, tenant: Tenant, logged: io.StringIO
) -> None:
    alice = tenant.agent("alice")
    create(alice, entry())
    service.tenant("doomed")
    ok(service.root.delete("/api/v1/tenants/doomed"), 202)
    preview = {"kind": "person", "id": "alice", "dry_run": True}
    ok(tenant.admin.post("/api/v1/deletions", json=preview), 202)
    mine: Item = {"tenant": tenant.id, "kind": "tenant", "name": None, "is_preview": False}
    sources = [(each["pk"], each["sk"]) for each in items(service, "preview#")]
    sources.append(item_types.DELETION.build_key(subject="doomed"))
    for source in sources:
        forged = get_item(service, source) | mine
        for key in (source, item_types.DELETION.build_key(subject=tenant.id)):
            put_item(service, key, {n: value for n, value in forged.items() if value is not None})
        for _ in range(3):
            sweep(service)
            service.clock.advance(seconds=SETTLING_TIME // 1000)
    assert ok(tenant.admin.get("/api/v1/me"))["tenant"] == tenant.id
    assert len(query(alice)) == 1
    assert "ignored an item with a wrong seal" in logged.getvalue()


def test_a_forged_index_shows_nobody_anothers_state(service: Service, tenant: Tenant) -> None:
    path = "/api/v1/agents/{}/state"
    mallory = tenant.agent("mallory")
    for client, name in ((mallory, "mallory"), (tenant.agent("alice"), "alice")):
        ok(client.put(f"{path.format(name)}/user/k", json={"value": name}))
    stored = (each for each in items(service, "s#") if "agent_id" in each)
    states = {each["agent_id"]: each for each in stored}
    theirs = states["alice"]
    forged = theirs | {"group_index": states["mallory"]["group_index"]}
    put_item(service, (theirs["pk"], theirs["sk"]), forged)
    for listed in (path.format("mallory"), f"{path.format('mallory')}/user?total=none"):
        assert "alice" not in mallory.get(listed).text


def test_a_forged_listing_gives_nobody_a_reference(service: Service, tenant: Tenant) -> None:
    (mallory, alice) = (tenant.agent(name) for name in ("mallory", "alice"))
    openwop_calls.start(alice)
    (theirs,) = openwop_calls.memory_items(service, "o")
    own = openwop_calls.start(mallory)
    heads = openwop_calls.memory_items(service, "o")
    (mine,) = (head for head in heads if head["pk"] != theirs["pk"])
    put_item(service, (theirs["pk"], theirs["sk"]), theirs | {"group_index": mine["group_index"]})
    (listed,) = ok(mallory.get("/v1/memories"))["memories"]
    assert listed["memoryRef"] == own.reference

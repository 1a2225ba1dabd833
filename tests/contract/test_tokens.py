"""Tokens that the gateway has verified name a principal; its permissions come from the service."""

from typing import Any

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.settings import ApiSettings
from tests.contract.bodies import create, entry, read
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.transport import HandlerTransport, LambdaContext, open_client, turns

pytestmark = pytest.mark.in_process
CLAIMS = {"JWT_TENANT_CLAIM": "custom:tenant", "JWT_PRINCIPAL_CLAIM": "sub"}


class Gateway:
    """An HTTP API whose JWT authorizer has let a token through."""

    def __init__(self, service: Service, **variables: str) -> None:
        settings = ApiSettings.from_env(service.environment() | variables)
        self._handler = App(Container(settings, service.clock))
        self._turn = turns(parallel=service.engine.parallel)

    def client(self, key: str | None = None, **claims: str) -> httpx.Client:
        """Somebody whose token has these claims, and who may send a key beside it."""

        def with_token(event: dict[str, Any], context: object) -> dict[str, Any]:
            authorizer = {"jwt": {"claims": {"iss": "https://id", **claims}, "scopes": None}}
            event["requestContext"]["authorizer"] = authorizer
            event["headers"]["authorization"] = "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln"
            return self._handler(event, context or LambdaContext())

        return open_client(HandlerTransport(with_token, self._turn), key)

    def keyed(self, key: str) -> httpx.Client:
        """Somebody at the API that has no authorizer."""
        return open_client(HandlerTransport(self._handler, self._turn), key)


@pytest.fixture
def gateway(service: Service) -> Gateway:
    """A function that knows which claims to read."""
    return Gateway(service, **CLAIMS)


def claims(tenant: Tenant, principal: str) -> dict[str, str]:
    return {"custom:tenant": tenant.id, "sub": principal}


def test_a_token_acts_as_the_principal_that_it_names(tenant: Tenant, gateway: Gateway) -> None:
    alice, bob = tenant.agents("alice", "bob")
    made = create(gateway.client(**claims(tenant, "alice")), entry())
    assert made["agent_id"] == "alice"
    assert ok(read(alice, made["id"])) == made
    refused(read(gateway.client(**claims(tenant, "bob")), made["id"]), 403, "ACCESS_DENIED")
    refused(read(bob, made["id"]), 403, "ACCESS_DENIED")


def test_keys_work_beside_tokens(tenant: Tenant, gateway: Gateway) -> None:
    key = tenant.principal("agent", "alice")["api_key"]
    assert ok(gateway.keyed(key).get("/api/v1/me"))["id"] == "alice"


def test_a_token_overrides_a_key(tenant: Tenant, gateway: Gateway) -> None:
    tenant.agent("alice")
    both = gateway.client(tenant.admin.headers["X-API-Key"], **claims(tenant, "alice"))
    assert ok(both.get("/api/v1/me"))["id"] == "alice"
    refused(both.get("/api/v1/principals"), 403, "ACCESS_DENIED")


def test_no_claim_gives_a_permission(tenant: Tenant, gateway: Gateway) -> None:
    tenant.agent("alice", permissions=["memory.read"])
    boast = {"kind": "user", "permissions": "memory.admin", "scope": "memory.write"}
    alice = gateway.client(**claims(tenant, "alice"), **boast)
    refused(alice.post("/api/v1/memory", json=entry()), 403, "ACCESS_DENIED")
    refused(alice.post("/api/v1/tenants", json={"id": "mine"}), 403, "ACCESS_DENIED")


def test_a_token_is_valid_only_in_its_tenant(
    service: Service, tenant: Tenant, gateway: Gateway
) -> None:
    other = service.tenant()
    for each in (tenant, other):
        each.agent("alice")
    made = create(gateway.client(**claims(tenant, "alice")), entry())
    namesake = gateway.client(**claims(other, "alice"))
    assert ok(namesake.get("/api/v1/me"))["tenant"] == other.id
    refused(read(namesake, made["id"]), 404, "ENTRY_NOT_FOUND")


def test_a_token_for_an_unknown_principal_is_refused(tenant: Tenant, gateway: Gateway) -> None:
    for stranger in (claims(tenant, "nobody"), {"custom:tenant": "none", "sub": "admin"}):
        refused(gateway.client(**stranger).get("/api/v1/me"), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("lacking", ["custom:tenant", "sub"])
def test_a_token_without_a_claim_is_refused(tenant: Tenant, gateway: Gateway, lacking: str) -> None:
    rest = {name: each for name, each in claims(tenant, "admin").items() if name != lacking}
    for incomplete in (rest, rest | {lacking: ""}):
        answer = gateway.client(**incomplete).get("/api/v1/me")
        assert lacking in refused(answer, 401, "UNAUTHENTICATED")["message"]


def test_a_token_of_a_revoked_or_expired_principal_is_refused(
    service: Service, tenant: Tenant, gateway: Gateway
) -> None:
    tenant.agent("alice", expires_at=service.clock.time(seconds=60))
    tenant.agent("bob")
    alice, bob = (gateway.client(**claims(tenant, name)) for name in ("alice", "bob"))
    admin = gateway.client(**claims(tenant, tenant.admin_id))
    ok(alice.get("/api/v1/me"))
    ok(bob.get("/api/v1/me"))
    assert_no_content(admin.delete("/api/v1/principals/bob"))
    refused(bob.get("/api/v1/me"), 401, "UNAUTHENTICATED")
    service.clock.advance(seconds=60)
    refused(alice.get("/api/v1/me"), 401, "UNAUTHENTICATED")


def test_without_settings_a_token_is_ignored(service: Service, tenant: Tenant) -> None:
    client = Gateway(service).client(**claims(tenant, "admin"))
    refused(client.get("/api/v1/me"), 401, "UNAUTHENTICATED")

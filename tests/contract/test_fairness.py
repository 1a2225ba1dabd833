"""Test that a caller that sends too much gets a Retry-After, and slows down no other."""

from dataclasses import replace

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.bodies import MEMORY, create, entry, read, update
from tests.contract.expect import ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.throttling import throttled
from tests.contract.transport import HandlerTransport, open_client, turns


@pytest.mark.in_process
def test_a_principal_that_sends_too_much_is_throttled_alone(
    tenant: Tenant, ada: httpx.Client, alice: httpx.Client
) -> None:
    service = tenant.service
    settings = replace(service.settings(), principal_requests_per_minute=3)
    parallel = service.engine.parallel
    handler = App(Container(settings, service.clock))
    transport = HandlerTransport(handler, turns(parallel=parallel))
    loud, other = (open_client(transport, each.headers["X-API-Key"]) for each in (ada, alice))
    for _ in range(3):
        ok(loud.get(MEMORY))
    answer = loud.get(MEMORY)
    assert "3 requests a minute" in refused(answer, 429, "THROTTLED")["detail"]
    assert 1 <= int(answer.headers["Retry-After"]) <= 20
    of_openwop = loud.post("/v1/runs", json={"agent": "planner"})
    assert (of_openwop.status_code, of_openwop.json()["error"]) == (429, "rate_limited")
    ok(loud.get("/health"))
    ok(other.get(MEMORY))


@pytest.mark.in_process
@pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
def test_while_dynamodb_throttles_the_tenant_that_floods_is_refused_and_no_other(
    service: Service,
) -> None:
    with throttled() as store:
        handler = App(Container(service.settings(), service.clock))
        transport = HandlerTransport(handler, turns(parallel=True))
        loud, quiet = (
            open_client(transport, service.tenant(name).admin.headers["X-API-Key"])
            for name in ("loud", "quiet")
        )
        floods, kept = create(loud, entry()), create(quiet, entry())
        for client, made, count in ((loud, floods, 30), (quiet, kept, 3)):
            for _ in range(count):
                ok(read(client, made["id"]))
        store.attempts = {"loud#": 4, "quiet#": 1}  # of four attempts at a call
        throttles = update(loud, floods["id"], 1, value={"n": 2})
        assert refused(throttles, 429, "THROTTLED")["detail"].startswith("the database")
        answers = [read(loud, floods["id"]) for _ in range(20)]
        shed = [each for each in answers if each.status_code != 200]
        assert 18 <= len(shed) <= 19  # 95 %; it gets the rest, and with them what it reads
        for each in (throttles, *shed):
            refused(each, 429, "THROTTLED")
            assert int(each.headers["Retry-After"]) >= 1
        for version in range(1, 6):
            ok(update(quiet, kept["id"], version, value={"n": version}))
        assert store.refused == 4 + 5

"""Contract §3: who sends too much is told when to try again, and hinders nobody else."""

from dataclasses import replace

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.bodies import MEMORY
from tests.contract.expect import ok, refused
from tests.contract.service import Tenant
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

"""The four scenarios that OpenWOP RFC 0004 asks for, over HTTP, each beside its positive control.

They run where `longTerm` is advertised, as the RFC has it; here that is checked, too.
"""

import httpx
import pytest

from tests.contract.expect import ok
from tests.contract.openwop_calls import erring, forbidden, path, present, start
from tests.contract.service import Service, Tenant
from tests.contract.test_sensitive import is_stored
from tests.contract.transport import MovableClock

SECRET = "sk_live_51HXyzExample0042"
SECRETS = [{"label": "stripe", "value": SECRET}]


@pytest.fixture
def host(tenant: Tenant) -> httpx.Client:
    """A principal of a host that advertises what is tested here."""
    advertised = ok(tenant.service.client().get("/.well-known/openwop"))["capabilities"]
    assert advertised["agents"]["memoryBackends"] == ["longTerm"]
    return tenant.agent("ada")


def test_memory_list_snapshot(host: httpx.Client) -> None:
    before = start(host).put("before")
    run = start(host)
    external = ok(host.post(path(run.reference), json={"content": "external"}), 201)
    assert run.entries() == [before]
    assert run.get(external["id"]) is None
    ok(host.delete(path(run.reference, before["id"])))
    assert run.entries() == [before]
    assert run.get(before["id"]) == before
    control = start(host)
    assert control.entries() == [external]
    assert control.get(external["id"]) == external


def test_memory_put_redaction(host: httpx.Client, service: Service) -> None:
    run = start(host, secrets=SECRETS)
    entry = run.put(f"key {SECRET}!", tags=[SECRET, f"source:{SECRET}"])
    assert entry["content"] == "key <REDACTED:stripe>!"
    assert entry["tags"] == ["<REDACTED:stripe>", "source:<REDACTED:stripe>"]
    assert start(host).entries() == [entry]
    assert not is_stored(service, SECRET)
    rejecting = start(host, secrets=SECRETS, onSecret="reject")
    for fields in ({"content": f"x{SECRET}"}, {"content": "x", "tags": [SECRET]}):
        refusal = erring(rejecting.try_put(**fields), 422, "secret_leakage")
        assert refusal["details"] == {"labels": ["stripe"]}
        assert SECRET not in str(refusal)
    assert start(host).entries() == [entry]
    for each in (run, rejecting):
        each.end()
    control = start(host)
    assert control.put(f"key {SECRET}!")["content"] == f"key {SECRET}!"
    assert is_stored(service, SECRET)


def test_memory_ttl_expiry(host: httpx.Client, clock: MovableClock) -> None:
    maker = start(host)
    entry = maker.put("for ten seconds", tags=["t"], expiresAt=clock.time(seconds=10))
    control = maker.put("for good", tags=["t"])
    run = start(host)
    clock.advance(seconds=10, ms=-1)
    assert run.entries() == run.entries(tag="t") == [control, entry]
    assert run.get(entry["id"]) == entry
    clock.advance(ms=1)
    assert run.entries() == run.entries(tag="t") == start(host).entries() == [control]
    assert run.get(entry["id"]) is None
    assert present(host, run.reference) == ["for good"]
    assert run.delete(entry["id"]) is False
    for moment in (clock.time(), clock.time(seconds=-1)):
        erring(run.try_put("too late", expiresAt=moment), 400, "validation_error")
    assert present(host, run.reference) == ["for good"]


def test_memory_tenant_isolation(host: httpx.Client, service: Service) -> None:
    run = start(host)
    entry = run.put("of the first tenant")
    stranger = service.tenant().admin
    before = service.state()
    for answer in (
        stranger.get(path(run.reference)),
        stranger.get(path(run.reference, entry["id"])),
        stranger.post(path(run.reference), json={"content": "intruder"}),
        stranger.delete(path(run.reference, entry["id"])),
    ):
        forbidden(answer)
    erring(stranger.post(f"/v1/runs/{run.id}/end"), 404, "not_found")
    assert service.state() == before
    control = start(stranger)
    made = control.put("of the second tenant")
    assert start(stranger).get(made["id"]) == made
    assert present(host, run.reference) == ["of the first tenant"]

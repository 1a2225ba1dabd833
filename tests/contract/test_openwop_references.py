"""OpenWOP RFC 0004 §C, §F: a memoryRef can't be forged or guessed, and is of one tenant."""

from collections.abc import Iterator

import httpx
import pytest

from benchmarks.capacity import recorded
from functions.api.app import App
from functions.container import Container
from functions.platform.settings import ApiSettings
from tests.contract.expect import ok
from tests.contract.faults import faulty
from tests.contract.openwop_calls import Run, forbidden, path, present, start
from tests.contract.service import Service, Tenant
from tests.contract.service import start as start_service
from tests.contract.transport import HandlerTransport, open_client, turns


@pytest.fixture
def run(tenant: Tenant) -> Run:
    """A run on a memory with one entry."""
    made = start(tenant.agent("ada"), scope="s")
    made.put("private")
    return made


def ask(client: httpx.Client, reference: str, run: Run) -> Iterator[httpx.Response]:
    """The answers to every call that takes a reference, with all else as it should be."""
    (entry,) = ok(run.client.get(path(run.reference)))["entries"]
    for query in ({}, {"runId": run.id}):
        yield client.get(path(reference), params=query)
        yield client.get(path(reference, entry["id"]), params=query)
        yield client.delete(path(reference, entry["id"]), params=query)
        yield client.post(path(reference), json={"content": "x"} | query)


def forge_references(reference: str) -> Iterator[str]:
    """Yield references that were never issued."""
    yield from (reference[:length] for length in (1, 4, 5, 20, len(reference) - 1))
    yield reference + "0"
    for place in (4, 5, 20, 31, 40, len(reference) - 1):
        yield reference[:place] + ("1" if reference[place] != "1" else "2") + reference[place + 1 :]
    yield reference.upper()
    yield reference.replace("mref_", "mem_")
    yield "mref_" + reference[5:30][::-1] + reference[30:]
    yield from ("~", "%00", "..%2F..%2Fetc", "a%2Fb%2Fc", "%C3%BC", "x" * 4_000)
    yield "mref_" + "0" * 52
    yield reference + "%0A"


@pytest.mark.in_process  # for its hundreds of requests
def test_a_forged_reference_is_forbidden(run: Run) -> None:
    assert all(answer.is_success for answer in [run.client.get(path(run.reference))])
    for reference in forge_references(run.reference):
        for answer in ask(run.client, reference, run):
            forbidden(answer)
    assert present(run.client, run.reference) == ["private"]


def asked(caller: httpx.Client, reference: str) -> list[httpx.Response]:
    """The answers to a list, a put and a delete."""
    return [
        caller.get(path(reference), params={"runId": "run_x"}),
        caller.post(path(reference), json={"content": "x", "runId": "run_x"}),
        caller.delete(path(reference, "mem_x")),
    ]


@pytest.mark.in_process
def test_a_forged_reference_costs_no_read(run: Run, service: Service) -> None:
    """Not a call to the store, once key, limits, and the deployment's secret are known."""
    stranger = service.tenant().admin.headers["X-API-Key"]
    with faulty() as client, recorded(client) as calls:
        again = start_service(service.engine, service.clock, service.key_file, 60)
        own, foreign = again.client(run.client.headers["X-API-Key"]), again.client(stranger)
        for caller in (own, foreign):
            for answer in asked(caller, "mref_" + "0" * 52):
                forbidden(answer)
        calls.clear()
        for reference in forge_references(run.reference):
            for answer in asked(own, reference):
                forbidden(answer)
        for answer in asked(foreign, run.reference):
            forbidden(answer)
        assert calls == []
        assert present(own, run.reference) == ["private"]
        assert len(calls) == 1


def test_a_reference_reveals_no_name(tenant: Tenant) -> None:
    client = tenant.agent("ada-lovelace")
    run = start(client, "analytical-engine", scope="notes-on-menabrea")
    for name in ("ada", "engine", "notes", tenant.id):
        assert name not in run.reference + run.id


@pytest.mark.in_process
def test_references_and_runs_outlive_the_root_key(run: Run, service: Service) -> None:
    environment = service.environment() | {"ROOT_KEY": "another-root-key-of-the-operator"}
    app = App(Container(ApiSettings.from_env(environment), service.clock))
    transport = HandlerTransport(app, turns(parallel=service.engine.parallel))
    caller = open_client(transport, run.client.headers["X-API-Key"])
    later = Run(caller, run.id, run.reference, run.snapshot)
    assert present(caller, run.reference) == ["private"]
    assert later.entries() == []
    assert later.replay().entries() == []
    assert start(caller, scope="s").reference == run.reference

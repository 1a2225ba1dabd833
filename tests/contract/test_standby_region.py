"""A standby Region: it reads, refuses to write, and writes exactly once it takes over.

Two engines are two Regions. The replicator is asynchronous and replicates item by item, as global
tables do: a transaction may be there in part.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.settings import ScheduleSettings
from functions.platform.table import Table
from functions.schedule.handler import build_handler
from operations.regions import make_agents_due
from tests.contract import engines
from tests.contract.bodies import MEMORY, create, entry, read
from tests.contract.engines import Engine
from tests.contract.expect import ok, refused
from tests.contract.regions import FIRST, SECOND, Replicator
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Json, Stream
from tests.contract.transport import HandlerTransport, LambdaContext, open_client, turns

pytestmark = [
    pytest.mark.in_process,
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
]


@pytest.fixture
def standby() -> Iterator[Engine]:
    """The other Region's engine."""
    with engines.dynoxide() as running:
        running.make_tables()
        yield running


def serve(service: Service, engine: Engine, key: str, active: str) -> httpx.Client:
    """A client of the second Region's API."""
    settings = replace(
        service.settings(),
        memory_table=engine.memory,
        log_table=engine.log,
        active_region=active,
        aws_region=SECOND,
    )
    handler = App(Container(settings, service.clock))
    client = open_client(HandlerTransport(handler, turns(parallel=True)), key)
    client.event_hooks = {}  # they let no answer of the 500s pass
    return client


def sweep(service: Service, engine: Engine) -> Any:
    """Run the second Region's schedule once."""
    settings = ScheduleSettings(
        memory_table=engine.memory,
        log_table=engine.log,
        encryption_key_file=str(service.key_file),
        sweep_threads=1,
    )
    return build_handler(Container(settings, service.clock))({}, LambdaContext())


def is_of_entry(record: Json) -> bool:
    """Tell whether a record is of an entry's own item."""
    sort: str = record["dynamodb"]["Keys"]["sk"]["S"]
    return sort.startswith("e#")


def test_a_standby_reads_and_never_writes(
    service: Service, tenant: Tenant, standby: Engine
) -> None:
    ada = tenant.agent("ada")
    made = create(ada, entry(memory_type="episodic"))
    Replicator(service.engine, standby)
    held = serve(service, standby, ada.headers["X-API-Key"], FIRST)
    before = standby.items()
    assert ok(held.get("/health?deep=true")) == {"status": "ok", "writes": False}
    assert ok(ada.get("/health?deep=true")) == {"status": "ok", "writes": True}
    service.clock.advance(seconds=90_000)
    assert ok(read(held, made["id"]))["value"] == made["value"]
    answer = held.post(MEMORY, json=entry(key="late"))
    refused(answer, 503, "UNAVAILABLE")
    assert answer.headers["Retry-After"] == "5"
    refused(held.delete(f"{MEMORY}/{made['id']}"), 503, "UNAVAILABLE")
    assert standby.items() == before


def test_counters_are_exact_after_a_switch_amid_a_transaction(
    service: Service, tenant: Tenant, standby: Engine
) -> None:
    stream, ada = Stream(service), tenant.agent("ada")
    create(ada, entry(key="whole"))
    replicator = Replicator(service.engine, standby)
    stream.read()
    create(ada, entry(key="half"))
    replicator.replicate([each for each in stream.read() if is_of_entry(each)])
    table = Table(standby.client, standby.memory)
    key = ada.headers["X-API-Key"]
    taken_over = serve(service, standby, key, SECOND)
    summary = "/api/v1/agents/ada/memory/summary"
    assert ok(taken_over.get(summary)) != ok(ada.get(summary))
    assert make_agents_due(table, service.clock()) == 1
    counts = sweep(service, standby)
    assert (counts["reconciled"], counts["repaired"]) == (1, 1)
    assert ok(taken_over.get(summary)) == ok(ada.get(summary))
    ok(taken_over.post(MEMORY, json=entry(key="after")), 201)
    assert sweep(service, standby).get("repaired", 0) == 0

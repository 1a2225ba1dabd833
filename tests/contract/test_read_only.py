"""While an operator moves the data, reads are answered and writes are to be repeated."""

from dataclasses import replace

import pytest

from functions.api.app import App
from functions.container import Container
from tests.contract.bodies import MEMORY, create, entry, read
from tests.contract.expect import ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import HandlerTransport, open_client, turns

pytestmark = pytest.mark.in_process


def test_writes_are_unavailable_and_reads_go_on(tenant: Tenant) -> None:
    ada, service = tenant.agent("ada"), tenant.service
    made = create(ada, entry())
    settings = replace(service.settings(), read_only=1)
    handler = App(Container(settings, service.clock))
    held = open_client(HandlerTransport(handler, turns(parallel=True)), ada.headers["X-API-Key"])
    held.event_hooks = {}  # they let no answer of the 500s pass
    assert ok(read(held, made["id"]))["value"] == made["value"]
    answer = held.post(MEMORY, json=entry(key="late"))
    refused(answer, 503, "UNAVAILABLE")
    assert answer.headers["Retry-After"] == "5"
    refused(held.delete(f"{MEMORY}/{made['id']}"), 503, "UNAVAILABLE")
    create(ada, entry(key="late"))

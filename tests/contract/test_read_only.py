"""While an operator moves the data, reads are answered and writes are to be repeated."""

from dataclasses import replace

import pytest

from functions.api.app import App
from functions.api.route_index import list_routes
from functions.container import Container
from functions.platform.settings import TaskEventSettings
from functions.task_events.handler import TaskEventRejected, build_handler
from tests.contract.bodies import MEMORY, create, entry, read
from tests.contract.expect import ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep
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


def test_a_request_that_only_asks_is_answered_whatever_its_method() -> None:
    queries = {
        route.path for route in list_routes() if route.method == "POST" and not route.may_write
    }
    assert queries == {
        "/api/v1/agents/{agent_id}/objects/{space}/read",
        "/api/v1/conversations/search",
        "/api/v1/facts/recall",
        "/api/v1/memory/search",
        "/api/v1/objects/{space}/read",
        "/api/v1/procedures/{agent_type}/{task_type}/select",
        "/api/v1/recall",
    }
    assert not any(
        route.audited or route.idempotent for route in list_routes() if not route.may_write
    )


def test_the_schedule_and_task_events_write_nothing_either(
    service: Service, tenant: Tenant
) -> None:
    assert sweep(service, read_only=1) == {"read_only": 1}
    settings = TaskEventSettings(
        memory_table=service.engine.memory,
        log_table=service.engine.log,
        encryption_key_file=str(service.key_file),
        task_events_tenant=tenant.id,
        task_events_principal="planner",
        read_only=1,
    )
    with pytest.raises(TaskEventRejected, match="UNAVAILABLE"):
        build_handler(Container(settings, service.clock))({"source": "planner"}, None)

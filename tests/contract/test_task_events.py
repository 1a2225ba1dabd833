"""Task events of other systems, by the function that an EventBridge rule invokes."""

import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.container import Container
from functions.platform.clock import to_rfc3339
from functions.platform.settings import TaskEventSettings
from functions.task_events.handler import TaskEventRejected, build_handler
from tests.contract.bodies import TASKS, change_task, create, create_task, read, working
from tests.contract.expect import ok, refused
from tests.contract.faults import Killed, When, faulty
from tests.contract.service import Service, Tenant
from tests.contract.streaming import log
from tests.contract.transport import LambdaContext, MovableClock

pytestmark = pytest.mark.in_process
PAYLOAD = Path(__file__).parents[2] / "events/task-event.json"
Send = Callable[..., dict[str, Any]]


def build_function(service: Service, tenant: Tenant, principal: str = "planner") -> Any:
    """A new instance of the function."""
    settings = TaskEventSettings(
        memory_table=service.engine.memory,
        log_table=service.engine.log,
        encryption_key_file=str(service.key_file),
        task_events_tenant=tenant.id,
        task_events_principal=principal,
    )
    return build_handler(Container(settings, service.clock))


def task_events_function(service: Service, tenant: Tenant, principal: str = "planner") -> Send:
    """Return a function that sends an event to a new instance of the Lambda function."""
    handler = build_function(service, tenant, principal)

    def send(id: str = "", **detail: Any) -> dict[str, Any]:
        envelope = {"source": "com.example.planner", "id": id or secrets.token_hex(8)}
        done: dict[str, Any] = handler(envelope | {"detail": detail}, LambdaContext())
        return done

    return send


@pytest.fixture
def planner(tenant: Tenant) -> httpx.Client:
    return tenant.coordinator("planner")


@pytest.fixture
def task_1(planner: httpx.Client) -> None:
    create_task(planner, id="task_1", assigned_agent="alice")


@pytest.fixture
def send(service: Service, tenant: Tenant) -> Send:
    return task_events_function(service, tenant)


def task(client: httpx.Client, id: str = "task_1") -> Any:
    return ok(client.get(f"{TASKS}/{id}"))


@pytest.mark.usefixtures("task_1")
def test_an_event_changes_a_task(send: Send, planner: httpx.Client) -> None:
    assert send(task_id="task_1", status="running") == {"applied": True, "version": 2}
    assert task(planner)["status"] == "running"
    send(task_id="task_1", assigned_agent="bob", name="theirs")
    after = task(planner)
    assert (after["assigned_agent"], after["name"], after["version"]) == ("bob", "theirs", 3)


def test_an_event_that_names_an_intent_registers_its_task(
    send: Send, planner: httpx.Client
) -> None:
    send(task_id="task_9", intent_id="intent_9", assigned_agent="alice")
    made = task(planner, "task_9")
    assert (made["intent_id"], made["coordinator"]) == ("intent_9", "planner")
    send(task_id="task_9", intent_id="intent_9", status="running")
    assert (task(planner, "task_9")["status"], task(planner, "task_9")["version"]) == ("running", 2)


@pytest.mark.usefixtures("task_1")
def test_completing_a_task_archives_as_a_request_does(
    tenant: Tenant, send: Send, planner: httpx.Client
) -> None:
    alice = tenant.agent("alice")
    made = create(alice, working("task_1"))
    send(task_id="task_1", status="completed")
    refused(read(alice, made["id"]), 404, "ENTRY_NOT_FOUND")
    (archived,) = log(planner, "intents/intent_1", type="memory.archived")
    assert archived["data"]["snapshot"][0]["entry_id"] == made["id"]


@pytest.mark.usefixtures("task_1")
def test_a_repeated_event_does_nothing(send: Send, planner: httpx.Client) -> None:
    send("e1", task_id="task_1", assigned_agent="bob")
    ok(change_task(planner, task(planner), assigned_agent="carol"))
    assert send("e1", task_id="task_1", assigned_agent="bob") == {"applied": False, "version": None}
    assert task(planner)["assigned_agent"] == "carol"


@pytest.mark.usefixtures("task_1")
def test_an_event_that_changes_nothing_leaves_the_version(
    send: Send, planner: httpx.Client
) -> None:
    ok(change_task(planner, task(planner), status="completed"))
    assert send(task_id="task_1", status="completed") == {"applied": True, "version": 2}


@pytest.mark.parametrize(
    ("detail", "says"),
    [
        ({"task_id": "task_1", "status": "done"}, "VALIDATION_ERROR: status"),
        ({"task_id": "task_1", "colour": "red"}, "VALIDATION_ERROR: colour"),
        ({"status": "running"}, "VALIDATION_ERROR: task_id"),
        ({"task_id": "task_0", "status": "running"}, "NOT_FOUND"),
        ({"task_id": "theirs", "status": "running"}, "ACCESS_DENIED"),
        ({"task_id": "ended", "status": "running"}, "TASK_CLOSED"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rejected_event_changes_nothing_and_fails(
    service: Service,
    tenant: Tenant,
    send: Send,
    planner: httpx.Client,
    detail: dict[str, Any],
    says: str,
) -> None:
    create_task(planner, id="task_1")
    create_task(tenant.coordinator("other"), id="theirs", intent_id="other")
    ok(change_task(planner, create_task(planner, id="ended"), status="failed"))
    before = service.state()
    with pytest.raises(TaskEventRejected, match=says):
        send(**detail)
    assert service.state() == before


@pytest.mark.parametrize("event", [None, [], {}, {"source": "s", "id": "i"}, {"detail": {}}])
def test_what_is_no_event_is_rejected(service: Service, tenant: Tenant, event: Any) -> None:
    with pytest.raises(TaskEventRejected, match="VALIDATION_ERROR"):
        build_function(service, tenant)(event, LambdaContext())


def test_an_event_has_the_permissions_of_its_principal(
    service: Service, tenant: Tenant, planner: httpx.Client, clock: MovableClock
) -> None:
    create_task(planner, id="task_1")
    tenant.agent("agent")
    tenant.coordinator("reader", permissions=["memory.read"])
    tenant.coordinator("guest", expires_at=to_rfc3339(clock() + 3_600_000))
    clock.advance(seconds=3600)
    for principal in ("agent", "reader", "guest", "nobody"):
        with pytest.raises(TaskEventRejected, match="ACCESS_DENIED"):
            task_events_function(service, tenant, principal)(task_id="task_1", status="running")
    assert task(planner)["version"] == 1


@pytest.mark.usefixtures("parallel", "task_1")
def test_events_at_once_all_take_effect(send: Send, planner: httpx.Client) -> None:
    fields = ("name", "description", "plan_id", "lease_id", "blocked_reason")
    with ThreadPoolExecutor(len(fields)) as pool:
        list(pool.map(lambda field: send(task_id="task_1", **{field: "set"}), fields))
    after = task(planner)
    assert {name: after[name] for name in fields} == dict.fromkeys(fields, "set")
    assert after["version"] == 6


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_next_delivery_completes_one_killed_at_any_write(
    service: Service, tenant: Tenant, send: Send, planner: httpx.Client, when: When
) -> None:
    alice = tenant.agent("alice")
    for nth in count(1):
        id = f"task-{nth}"
        create_task(planner, id=id, intent_id=id, assigned_agent="alice")
        create(alice, working(id, key=id))
        with faulty(at=nth, when=when) as client:
            dying = task_events_function(service, tenant)
        with suppress(Killed):
            dying(id, task_id=id, status="completed")
        send(id, task_id=id, status="completed")
        assert task(planner, id)["version"] == 2
        assert len(log(planner, f"intents/{id}", type="memory.archived")) == 1
        if client.writes < nth:
            break
    assert nth > 4


def test_the_payload_is_applied(service: Service, tenant: Tenant, planner: httpx.Client) -> None:
    event = json.loads(PAYLOAD.read_text("utf-8"))
    task_events_function(service, tenant)(event["id"], **event["detail"])
    assert task(planner, "task_01HXYZ")["status"] == "running"

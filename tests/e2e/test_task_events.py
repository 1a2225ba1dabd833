"""Other systems' task events, from the account's bus to the task; a refusal fails."""

import json
from typing import Any

import httpx
import pytest

from tests.contract.bodies import TASKS
from tests.contract.expect import ok
from tests.contract.service import Tenant
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.toolkit import PLANNING, SOURCE
from tests.e2e.waiting import awaited

pytestmark = E2E


@pytest.fixture(scope="module")
def planning(deployment: Deployment) -> Tenant:
    """The tenant in whose planner's name events are taken."""
    return deployment.service.tenant(PLANNING)


@pytest.fixture(scope="module")
def planner(planning: Tenant) -> httpx.Client:
    """The coordinator in whose name events are taken."""
    return planning.coordinator("planner")


def put_event(deployment: Deployment, source: str = SOURCE, **detail: Any) -> None:
    """Put an event, as another system does."""
    event = {"Source": source, "DetailType": "Task", "Detail": json.dumps(detail)}
    answer = deployment.cloud.client("events").put_events(Entries=[event])
    assert answer["FailedEntryCount"] == 0


def test_an_event_of_another_system_moves_a_task(
    deployment: Deployment, planner: httpx.Client
) -> None:
    put_event(deployment, task_id="t1", intent_id="i1", assigned_agent="ada")
    awaited(lambda: planner.get(f"{TASKS}/t1").status_code == 200, "the task")
    put_event(deployment, "com.example.stranger", task_id="t1", status="cancelled")
    put_event(deployment, task_id="t1", status="completed")
    awaited(lambda: ok(planner.get(f"{TASKS}/t1"))["status"] == "completed", "its end")


@pytest.mark.usefixtures("planner")
def test_a_refused_event_fails_the_function_so_that_its_queue_gets_it(
    deployment: Deployment,
) -> None:
    event = {"source": SOURCE, "id": "e1", "detail": {"task_id": "nobodys", "status": "running"}}
    functions = deployment.cloud.client("lambda")
    answer = functions.invoke(
        FunctionName=deployment.alias_of("TaskEvents"), Payload=json.dumps(event)
    )
    assert answer["FunctionError"]
    assert "NOT_FOUND: no task has this id" in json.loads(answer["Payload"].read())["errorMessage"]

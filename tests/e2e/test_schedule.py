"""The schedule: it comes by itself, removes what has expired and finishes what was begun."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from functions.platform import item_types
from functions.platform.clock import now_ms
from tests.contract.bodies import create, create_task, entry, read, working
from tests.contract.expect import refused
from tests.contract.service import Tenant
from tests.contract.streaming import log, summarize
from tests.contract.transport import BASE_URL
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.waiting import awaited

pytestmark = E2E
EVENT = Path(__file__).parents[2] / "events/schedule.json"
A_MINUTE = 90.0  # seconds, with some to spare


def test_it_comes_by_itself(deployment: Deployment) -> None:
    logs, group = deployment.cloud.client("logs"), deployment.outputs["ScheduleLog"]

    def reports() -> list[Any]:
        events: list[Any] = logs.filter_log_events(logGroupName=group, filterPattern="REPORT")[
            "events"
        ]
        return events

    awaited(reports, "the schedule's first minute", A_MINUTE)


def sweep(deployment: Deployment) -> dict[str, Any]:
    """Do at once what the next minute would bring; what it did."""
    functions = deployment.cloud.client("lambda")
    name = deployment.alias_of("Schedule")
    answer = functions.invoke(FunctionName=name, Payload=EVENT.read_bytes())
    done: dict[str, Any] = json.loads(answer["Payload"].read())
    assert "FunctionError" not in answer, done
    return done


def test_an_expired_entry_is_removed_with_an_event(deployment: Deployment, tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = create(ada, entry(key="brief", ttl="duration:PT1S"))
    create(ada, entry(key="lasting"))
    awaited(lambda: read(ada, made["id"]).status_code == 404, "the expiry")
    sweep(deployment)
    partition = item_types.AGENT.build_partition(tenant.id, agent="ada")
    stored = [each.get("key") for each in deployment.items("MemoryTable", partition)]
    assert {"S": "lasting"} in stored
    assert {"S": "brief"} not in stored
    events = awaited(lambda: log(ada, "agents/ada", type="memory.expired"), "the event")
    assert summarize(events) == ["expired brief 1"]


@contextmanager
def refusing(deployment: Deployment, part: str, action: str, resource: str) -> Iterator[None]:
    """Deny an action to a part's role in IAM during the context."""
    iam, role, name = deployment.cloud.client("iam"), deployment.role(part), "refusing"
    statement = {"Effect": "Deny", "Action": action, "Resource": resource}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=document)
    try:
        yield
    finally:
        iam.delete_role_policy(RoleName=role, PolicyName=name)
        assert {denied["action"] for denied in deployment.cloud.new_denials()} == {action}


def make_due(deployment: Deployment, tenant: str) -> None:
    """Make due now what would be due in a minute."""
    dynamodb, table = deployment.cloud.client("dynamodb"), deployment.outputs["MemoryTable"]
    for item in deployment.items("MemoryTable", f"{tenant}#t#"):
        if "due" in item:
            dynamodb.update_item(
                TableName=table,
                Key={name: item[name] for name in ("pk", "sk")},
                UpdateExpression="SET due = :now",
                ExpressionAttributeValues={":now": {"N": str(now_ms())}},
            )


def test_a_task_whose_end_broke_off_is_finished(deployment: Deployment, tenant: Tenant) -> None:
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    task = create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    made = create(ada, working("t", key="kept"))
    logs = f"arn:aws:dynamodb:*:*:table/{deployment.outputs['LogTable']}"
    unchecked = httpx.Client(
        transport=deployment.service.transport, base_url=BASE_URL, headers=boss.headers
    )
    with refusing(deployment, "Api", "dynamodb:PutItem", logs):
        answer = unchecked.patch(
            f"/api/v1/tasks/{task['id']}", json={"status": "completed"}, headers={"If-Match": "1"}
        )
    assert answer.status_code >= 500
    assert log(boss, "intents/i", type="memory.archived") == []
    make_due(deployment, tenant.id)
    sweep(deployment)
    (archived,) = log(boss, "intents/i", type="memory.archived")
    assert [each["entry_id"] for each in archived["data"]["snapshot"]] == [made["id"]]
    refused(read(boss, made["id"]), 404, "ENTRY_NOT_FOUND")

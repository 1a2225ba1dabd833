"""The commands of day two, as an operator calls them, on the deployed stack."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import boto3
import pytest

from functions.deletions.model import SETTLING_TIME, Subject
from functions.platform.clock import now_ms
from operations import deployment as described
from operations import root_key
from operations.deletion import build_container, run_deletion
from operations.switches import set_switches
from tests.contract.bodies import MEMORY, create, entry
from tests.contract.expect import ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.streaming import log, summarize
from tests.e2e.deployment import Deployment
from tests.e2e.environment import ROOT
from tests.e2e.fixtures import E2E
from tests.e2e.queues import taken
from tests.e2e.test_schedule import refusing
from tests.e2e.waiting import awaited

pytestmark = E2E
TENANTS = "/api/v1/tenants"


def operate(deployment: Deployment, *arguments: str) -> str:
    ran = attempt(deployment, *arguments)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def attempt(deployment: Deployment, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Call a command, whatever becomes of it."""
    return subprocess.run(
        [sys.executable, "-m", "operations", "--name", deployment.name, *arguments],
        cwd=ROOT,
        env=deployment.cloud.environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def found(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> described.Deployment:
    """The deployment as the commands find it, at the address where the emulator serves its API."""
    for name, value in deployment.cloud.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SSL_CERT_FILE", str(deployment.cloud.certificate))
    found = described.Deployment.find(deployment.name)
    api_id = found.outputs["ApiUrl"].removeprefix("https://").partition(".")[0]
    address = f"{deployment.cloud.url}/_aws/execute-api/{api_id}/$default"
    return replace(found, outputs=found.outputs | {"ApiUrl": address})


def test_a_tenant_is_made_and_its_admin_has_a_key(
    found: described.Deployment, service: Service
) -> None:
    made = root_key.create_tenant(found, "made-by-command")
    admin = service.client(made["api_key"])
    assert ok(admin.get("/api/v1/me"))["tenant"] == "made-by-command"


def test_an_answers_request_id_leads_to_its_line_in_the_log(
    deployment: Deployment, tenant: Tenant
) -> None:
    answer = tenant.agent("ada").get("/api/v1/memory/unknown")  # failures are always logged
    named = answer.headers["x-request-id"]
    awaited(lambda: named in operate(deployment, "tail-log", "Api", "--minutes", "1"), "the line")


def test_a_replay_delivers_what_was_given_up_and_leaves_what_is_lost(
    deployment: Deployment, tenant: Tenant
) -> None:
    ada = tenant.agent("ada")
    logs = f"arn:aws:dynamodb:*:*:table/{deployment.outputs['LogTable']}"
    with refusing(deployment, "Stream", "dynamodb:PutItem", logs):
        create(ada, entry(key="k"))
        awaited(lambda: waiting(deployment, "StreamDeadLetters"), "the dead letter")
    assert log(ada, "agents/ada") == []
    queue, sqs = deployment.outputs["StreamDeadLetters"], deployment.cloud.client("sqs")
    sqs.send_message(QueueUrl=queue, MessageBody=letter_of_vanished_shard(deployment))
    listed = json.loads(operate(deployment, "replay", "--list"))
    assert len(listed["StreamDeadLetters"]["left"]) == 2
    partly = attempt(deployment, "replay")
    assert partly.returncode == 1
    done = json.loads(partly.stdout)["StreamDeadLetters"]
    assert (done["replayed"], len(done["left"]), done["hidden"]) == (1, 1, 0)
    assert summarize(log(ada, "agents/ada")) == ["created k 1"]
    assert len(taken(sqs, queue)) == 1  # it is deleted by hand alone
    assert not waiting(deployment, "StreamDeadLetters")


def letter_of_vanished_shard(deployment: Deployment) -> str:
    """Render a letter whose shard is gone, as after a day."""
    table = deployment.outputs["MemoryTable"]
    found = deployment.cloud.client("dynamodb").describe_table(TableName=table)["Table"]
    batch = {
        "shardId": "shardId-00000000000000000000-vanished",
        "startSequenceNumber": "100000000000000000001",
        "endSequenceNumber": "100000000000000000003",
        "batchSize": 3,
        "streamArn": found["LatestStreamArn"],
    }
    return json.dumps({"version": "1.0", "DDBStreamBatchInfo": batch})


def waiting(deployment: Deployment, queue: str) -> int:
    """Count the messages that wait in a queue."""
    name = "ApproximateNumberOfMessages"
    answer = deployment.cloud.client("sqs").get_queue_attributes(
        QueueUrl=deployment.outputs[queue], AttributeNames=[name]
    )
    return int(answer["Attributes"][name])


def test_an_export_holds_what_the_tenant_wrote(
    deployment: Deployment, tenant: Tenant, tmp_path: Path
) -> None:
    create(tenant.agent("ada"), entry(key="exported"))
    file = tmp_path / "tenant.jsonl"
    counts = json.loads(operate(deployment, "export-tenant", tenant.id, str(file)))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert sum(counts.values()) == len(lines)
    assert {"S": "exported"} in [line["item"].get("key") for line in lines if "item" in line]


def publish_version(found: described.Deployment, name: str) -> None:
    """Publish a version of a function, and let its alias select it."""
    functions, function = boto3.client("lambda"), found.function(name)
    functions.update_function_configuration(FunctionName=function, Description="a version more")
    functions.get_waiter("function_updated_v2").wait(FunctionName=function)
    version = functions.publish_version(FunctionName=function)["Version"]
    alias = found.outputs["Alias"]
    functions.update_alias(FunctionName=function, Name=alias, FunctionVersion=version)


def test_a_deleted_tenant_does_not_come_back_with_its_dead_letters(
    deployment: Deployment, found: described.Deployment, tenant: Tenant, service: Service
) -> None:
    ada, other = tenant.agent("ada"), service.tenant()
    logs = f"arn:aws:dynamodb:*:*:table/{deployment.outputs['LogTable']}"
    with refusing(deployment, "Stream", "dynamodb:PutItem", logs):
        create(ada, entry(key="diagnosis"))
        awaited(lambda: waiting(deployment, "StreamDeadLetters"), "the dead letter")
    planned = json.loads(operate(deployment, "delete-tenant", tenant.id, "--dry-run"))
    assert planned["counts"]["entry"] == 1
    ok(service.root.delete(f"{TENANTS}/{tenant.id}"), 202)
    publish_version(found, "Stream")  # its instances remember no deletions
    container = build_container(found, lambda: now_ms() + SETTLING_TIME)
    report = run_deletion(container, Subject(tenant.id, "tenant"), wait=lambda _: None)
    assert (report["status"], report["counts"]["entry"]) == ("done", 1)
    operate(deployment, "replay")
    assert deployment.items("MemoryTable", f"{tenant.id}#") == []
    assert deployment.items("LogTable", f"{tenant.id}#") == []
    refused(service.root.post(TENANTS, json={"id": tenant.id}), 409, "ENTRY_EXISTS")
    assert ok(other.admin.get("/api/v1/me"))["tenant"] == other.id


def test_a_reconciliation_corrects_what_a_crash_left(
    deployment: Deployment, found: described.Deployment, tenant: Tenant
) -> None:
    create(tenant.agent("ada"), entry())
    awaited(lambda: count_entries(tenant) == 1, "the count")
    deployment.cloud.client("dynamodb").update_item(
        TableName=deployment.outputs["MemoryTable"],
        Key={"pk": {"S": f"{tenant.id}#usage"}, "sk": {"S": "total"}},
        UpdateExpression="ADD items_entries :wrong",
        ExpressionAttributeValues={":wrong": {"N": "5"}},
    )
    assert count_entries(tenant) == 6
    reconciler = build_container(found).reconciler
    assert reconciler.run(lambda _: None)["corrected"] >= 1  # no other write runs at the same time
    assert count_entries(tenant) == 1


def count_entries(tenant: Tenant) -> int:
    """Count a tenant's entries, as its administrator sees them."""
    (used,) = ok(tenant.admin.get("/api/v1/usage"))["tenants"]
    found: int = used["days"][-1]["items"].get("entries", 0) if used["days"] else 0
    return found


@pytest.fixture
def former_root_key(deployment: Deployment, found: described.Deployment) -> Iterator[str]:
    """The root key, which is put back for the tests that follow."""
    key = deployment.service.root_key
    yield key
    client = deployment.cloud.client
    secret = deployment.outputs["RootKeySecretId"]
    client("secretsmanager").put_secret_value(SecretId=secret, SecretString=key)
    set_switches(found, root_key_version=None)
    operator = deployment.service.client(key)
    after = {"id": "after-rotation"}
    awaited(lambda: operator.post(TENANTS, json=after).status_code == 201, "the former key")


def test_a_rotated_root_key_takes_the_place_of_the_former(
    deployment: Deployment, former_root_key: str
) -> None:
    operate(deployment, "rotate-root-key")
    answer = deployment.cloud.client("secretsmanager").get_secret_value(
        SecretId=deployment.outputs["RootKeySecretId"]
    )
    service = deployment.service
    operator, by_new = service.client(answer["SecretString"]), {"id": "by-the-new"}
    awaited(lambda: operator.post(TENANTS, json=by_new).status_code == 201, "the new key")
    former = service.client(former_root_key)
    refused(former.post(TENANTS, json={"id": "by-the-former"}), 401, "UNAUTHENTICATED")


def test_restored_tables_hold_what_was_there_and_expire_it_but_not_what_was_deleted(
    deployment: Deployment, tenant: Tenant, service: Service
) -> None:
    create(tenant.agent("ada"), entry(key="kept"))
    doomed = service.tenant()
    ok(service.root.delete(f"{TENANTS}/{doomed.id}"), 202)
    for _ in range(2):  # it may be called again
        report = json.loads(operate(deployment, "restore", "latest", "restored"))
    assert f"tenant:{doomed.id}" in report["deleted_again"]
    dynamodb = deployment.cloud.client("dynamodb")
    for table in ("MemoryTable", "LogTable"):
        name = f"{deployment.outputs[table]}-restored"
        expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        assert expiry["AttributeName"] == "ttl_at"
        found = dynamodb.describe_table(TableName=name)["Table"]
        assert found["DeletionProtectionEnabled"]
        if table == "MemoryTable":
            held = dynamodb.scan(TableName=name)["Items"]
            assert {"S": "kept"} in [item.get("key") for item in held]
            assert found["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=False)
        dynamodb.delete_table(TableName=name)


def test_the_api_refuses_to_write_while_it_is_read_only(
    deployment: Deployment, tenant: Tenant
) -> None:
    ada = tenant.agent("ada")
    hooks, ada.event_hooks = ada.event_hooks, {}  # they let no answer of the 500s pass
    operate(deployment, "read-only", "on", "--no-wait")
    try:
        awaited(lambda: ada.post(MEMORY, json=entry()).status_code == 503, "the refusal")
        ok(ada.get("/api/v1/me"))
    finally:
        operate(deployment, "read-only", "off")
    awaited(lambda: ada.post(MEMORY, json=entry(key="later")).status_code == 201, "the write")
    ada.event_hooks = hooks


def test_old_versions_are_deleted_and_the_one_in_use_stays(
    found: described.Deployment, deployment: Deployment, tenant: Tenant
) -> None:
    publish_version(found, "Stream")
    report = json.loads(operate(deployment, "delete-old-versions", "--keep", "1"))
    functions = deployment.cloud.client("lambda")
    for name, versions in report.items():
        alias = functions.get_alias(
            FunctionName=deployment.function(name), Name=deployment.outputs["Alias"]
        )
        listed = functions.list_versions_by_function(FunctionName=deployment.function(name))
        left = [each["Version"] for each in listed["Versions"] if each["Version"] != "$LATEST"]
        assert sorted(left) == sorted(versions["kept"])
        assert alias["FunctionVersion"] in left
    ada = tenant.agent("ada")
    create(ada, entry(key="k"))
    assert awaited(lambda: log(ada, "agents/ada"), "the event")

"""The functions, built from the variables that the stack gives them, on AWS as moto plays it.

What a laptop has in files is in KMS, Secrets Manager, S3 and EventBridge here.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import httpx
import pytest
import requests
from moto import mock_aws

from functions.api.app import App
from functions.container import Container
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ApiSettings, ScheduleSettings, StreamSettings
from functions.schedule.handler import build_handler as build_schedule
from functions.stream.handler import build_handler as build_stream
from tests.contract.aws_sessions import open_session
from tests.contract.bodies import change_task, create, create_task, entry, read, working
from tests.contract.conversation_calls import CONVERSATIONS, put
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.faults import Killed, faulty
from tests.contract.transport import (
    HandlerTransport,
    LambdaContext,
    MovableClock,
    open_client,
    turns,
)
from tools.events import render_stream_event

_ROOT_KEY = "root-key-of-a-generated-secret"


@dataclass(frozen=True)
class Cloud:
    """An account with what the stack makes, and the functions' variables."""

    clock: MovableClock
    environment: dict[str, str]

    def instance(self, **variables: str) -> HandlerTransport:
        """A new instance of the API function."""
        handler = App(Container(ApiSettings.from_env(self.environment | variables), self.clock))
        return HandlerTransport(handler, turns(parallel=False))

    def client(self, key: str, **variables: str) -> httpx.Client:
        return open_client(self.instance(**variables), key)

    def tell(self, event: dict[str, Any]) -> Any:
        """Hand an event to the stream function."""
        settings = StreamSettings.from_env(self.environment)
        return build_stream(Container(settings, self.clock))(event, LambdaContext())

    def sweep(self) -> dict[str, Any]:
        settings = ScheduleSettings.from_env(self.environment | {"SWEEP_THREADS": "1"})
        return build_schedule(Container(settings, self.clock))({}, LambdaContext())


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """An account with nothing in it but what the stack makes."""
    with mock_aws(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(boto3, "DEFAULT_SESSION", open_session())
        for table in (build_memory_table("memory-1"), build_log_table("log-1")):
            boto3.client("dynamodb").create_table(**table)
        place = {"LocationConstraint": "eu-central-1"}
        boto3.client("s3").create_bucket(Bucket="archive", CreateBucketConfiguration=place)
        boto3.client("events").create_event_bus(Name="memory-events")
        secret = boto3.client("secretsmanager").create_secret(Name="root", SecretString=_ROOT_KEY)
        environment = {
            "MEMORY_TABLE": "memory-1",
            "LOG_TABLE": "log-1",
            "ROOT_KEY_SECRET_ID": secret["ARN"],
            "ENCRYPTION_KEY_ID": boto3.client("kms").create_key()["KeyMetadata"]["Arn"],
            "ARCHIVE_BUCKET": "archive",
            "EVENT_BUS": "memory-events",
            "EVENT_BUS_TYPES": "*",
        }
        yield Cloud(MovableClock(datetime(2030, 1, 1, tzinfo=UTC)), environment)


@pytest.fixture
def admin(cloud: Cloud) -> httpx.Client:
    instance = cloud.instance()
    made = ok(open_client(instance, _ROOT_KEY).post("/api/v1/tenants", json={"id": "acme"}), 201)
    return open_client(instance, made["admin"]["api_key"])


def test_a_sensitive_value_is_opened_by_another_instance(cloud: Cloud, admin: httpx.Client) -> None:
    value = {"card": "4111 1111 1111 1111"}
    made = create(admin, entry(value=value, sensitivity="restricted"))
    another = cloud.client(admin.headers["X-API-Key"])
    assert ok(read(another, made["id"]))["value"] == value


def test_a_good_key_needs_no_root_key(cloud: Cloud, admin: httpx.Client) -> None:
    made = create(admin, entry())
    lost = {"ROOT_KEY_SECRET_ID": "no-such-secret"}
    ok(read(cloud.client(admin.headers["X-API-Key"], **lost), made["id"]))
    stranger = cloud.client("am_stranger", **lost)
    stranger.event_hooks = {}  # they let no answer of the 500s pass
    refused(read(stranger, made["id"]), 503, "UNAVAILABLE")
    refused(read(cloud.client("am_stranger"), made["id"]), 401, "UNAUTHENTICATED")
    refused(read(cloud.client(_ROOT_KEY), made["id"]), 403, "ACCESS_DENIED")


def test_an_instance_reads_the_root_key_when_an_operator_calls(cloud: Cloud) -> None:
    started = cloud.client("root-key-after-a-rotation")
    boto3.client("secretsmanager").put_secret_value(
        SecretId="root", SecretString="root-key-after-a-rotation"
    )
    ok(started.post("/api/v1/tenants", json={"id": "globex"}), 201)


def test_an_end_that_was_cut_short_is_finished_by_the_schedule(
    cloud: Cloud, admin: httpx.Client
) -> None:
    task = create_task(admin, id="task_1", assigned_agent="admin")
    create(admin, working("task_1"))
    with faulty(at=2):
        told = {"ROOT_KEY_SECRET_ID": "", "ROOT_KEY": _ROOT_KEY}
        dying = cloud.client(admin.headers["X-API-Key"], **told)
    with pytest.raises(Killed):
        change_task(dying, task, status="completed")
    cloud.clock.advance(seconds=120)
    assert cloud.sweep()["archived"] == 1
    page = ok(admin.get("/api/v1/intents/intent_1/events", params={"type": "memory.archived"}))
    assert [event["data"]["entries_archived"] for event in page["events"]] == [1]


def test_an_ended_conversation_is_in_the_bucket_until_it_is_deleted(
    cloud: Cloud, admin: httpx.Client
) -> None:
    ok(put(admin, "s1", "hello", ttl="duration:P1D"), 201)
    cloud.clock.advance(seconds=24 * 3600)
    cloud.sweep()
    objects = boto3.client("s3").list_objects_v2(Bucket="archive")
    assert objects["KeyCount"] == 1
    archived = ok(admin.get(f"{CONVERSATIONS}/s1/archive"))
    assert [message["content"] for message in archived["messages"]] == ["hello"]
    assert_no_content(admin.delete(f"{CONVERSATIONS}/s1/archive"))
    cloud.sweep()
    assert boto3.client("s3").list_objects_v2(Bucket="archive")["KeyCount"] == 0


def test_a_large_object_is_in_the_bucket_until_it_expires(
    cloud: Cloud, admin: httpx.Client
) -> None:
    path, headers = "/api/v1/objects/file_store/k", {"X-Object-TTL": "60"}
    for data in (bytes(9_000), secrets.token_bytes(9_000)):
        assert admin.put(path, content=data, headers=headers).is_success
        assert admin.get(path).content == data
        assert boto3.client("s3").list_objects_v2(Bucket="archive")["KeyCount"] == 1
    cloud.clock.advance(seconds=61)
    assert cloud.sweep()["objects"] == 1
    assert boto3.client("s3").list_objects_v2(Bucket="archive")["KeyCount"] == 0


def test_a_deleted_tenant_has_no_files_in_the_bucket(cloud: Cloud, admin: httpx.Client) -> None:
    ok(admin.put("/api/v1/objects/file_store/k", content=secrets.token_bytes(9_000)), 201)
    ok(cloud.client(_ROOT_KEY).delete("/api/v1/tenants/acme"), 202)
    cloud.sweep()
    assert boto3.client("s3").list_objects_v2(Bucket="archive")["KeyCount"] == 0


def test_an_uploaded_object_comes_and_goes_by_addresses_of_the_bucket(admin: httpx.Client) -> None:
    space, data = "/api/v1/objects/films", secrets.token_bytes(4_194_305)
    wanted = {"size": len(data), "sensitivity": "restricted"}
    upload = ok(admin.post(f"{space}/uploads", json=wanted), 201)
    signed = parse_qs(urlsplit(upload["url"]).query)["X-Amz-SignedHeaders"][0].split(";")
    assert {"content-length", "if-none-match", "x-amz-server-side-encryption"} <= set(signed)
    assert requests.put(upload["url"], data=data, headers=upload["headers"], timeout=60).ok
    again = requests.put(upload["url"], data=data, headers=upload["headers"], timeout=60)
    assert again.status_code == 412
    headers = {"X-Object-Upload": upload["upload_id"], "X-Object-Sensitivity": "restricted"}
    ok(admin.put(f"{space}/k", headers=headers), 201)
    assert requests.get(admin.get(f"{space}/k").headers["Location"], timeout=60).content == data
    part = admin.get(f"{space}/k", headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, data[:10])


def test_the_bus_takes_events(cloud: Cloud) -> None:
    event = render_stream_event("created")
    for _ in range(2):
        assert cloud.tell(event) == {"batchItemFailures": []}
    marked = boto3.client("dynamodb").scan(
        TableName="log-1",
        FilterExpression="begins_with(sk, :published)",
        ExpressionAttributeValues={":published": {"S": "m#"}},
    )
    assert marked["Count"] == 1

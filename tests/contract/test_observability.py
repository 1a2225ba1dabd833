"""Test what the functions log about a failure's cause, and how a trace is continued."""

import io
import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError

from functions.api.app import App
from functions.container import Container
from tests.contract.bodies import MEMORY, create, entry
from tests.contract.expect import ok, refused
from tests.contract.faults import faulty
from tests.contract.service import Service, Tenant
from tests.contract.streaming import FakeEventBridge, Json, Stream, stream_function
from tests.contract.transport import HandlerTransport, open_client, turns

pytestmark = [
    pytest.mark.in_process,
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
_INDEX = "arn:aws:dynamodb:eu-central-1:123456789012:table/memory/index/by_due"
_REASON = {"reason": "IndexWriteKeyRangeThroughputExceeded", "resource": _INDEX}


def aws_error(code: str, **members: Any) -> ClientError:
    """An answer of DynamoDB's that quotes what it was asked."""
    answer: Any = {
        "Error": {"Code": code, "Message": "of hush-hush"},
        "ResponseMetadata": {"RequestId": "AWSREQUEST"},
        **members,
    }
    return ClientError(answer, "PutItem")


def fail_create(tenant: Tenant, error: ClientError) -> Any:
    service = tenant.service
    with faulty(1, error=error):
        handler = App(Container(service.settings(), service.clock))
    caller = open_client(
        HandlerTransport(handler, turns(parallel=True)), tenant.admin.headers["X-API-Key"]
    )
    caller.event_hooks = {}  # they let no answer of the 500s pass
    return caller.post(MEMORY, json=entry(value={"text": "hush-hush"}))


def lines_with(name: str, output: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [line for line in lines if name in line]


@pytest.fixture
def in_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables by which Lambda identifies a function."""
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "memory-api")
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_VERSION", "7")


@pytest.mark.usefixtures("in_lambda")
def test_a_throttled_request_says_where_and_why(
    tenant: Tenant, logged: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    error = aws_error("ThrottlingException", throttlingReasons=[_REASON])
    refused(fail_create(tenant, error), 429, "THROTTLED")
    where = {"reason": _REASON["reason"], "resource": "memory/index/by_due"}
    (line,) = lines_with("aws_code", logged.getvalue())
    assert (line["aws_code"], line["aws_operation"]) == ("ThrottlingException", "PutItem")
    assert (line["aws_request_id"], line["principal"]) == ("AWSREQUEST", tenant.admin_id)
    assert line["throttling_reasons"] == [where]
    (metric,) = lines_with("StoreThrottles", capsys.readouterr().out)
    assert (metric["FunctionName"], metric["reasons"]) == ("memory-api", [where])
    assert "hush-hush" not in logged.getvalue()


def test_a_deep_health_check_fails_where_the_table_does(service: Service) -> None:
    class NoTable:
        """DynamoDB without the table."""

        def get_item(self, **_request: Any) -> Any:
            raise aws_error("ResourceNotFoundException")

    with patch("functions.container.create_client", return_value=NoTable()):
        handler = App(Container(service.settings(), service.clock))
    anyone = open_client(HandlerTransport(handler, turns(parallel=True)), None)
    anyone.event_hooks = {}
    assert ok(anyone.get("/health")) == {"status": "ok"}
    refused(anyone.get("/health?deep=true"), 500, "INTERNAL_ERROR")


@pytest.mark.usefixtures("in_lambda")
def test_an_unexpected_answer_of_aws_is_told_by_its_code(
    tenant: Tenant, logged: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(fail_create(tenant, aws_error("AccessDeniedException")), 500, "INTERNAL_ERROR")
    (line,) = lines_with("aws_code", logged.getvalue())
    assert (line["aws_code"], line["aws_request_id"]) == ("AccessDeniedException", "AWSREQUEST")
    assert "hush-hush" not in logged.getvalue()
    (metric,) = lines_with("FailedRequests", capsys.readouterr().out)
    dimensions = metric["_aws"]["CloudWatchMetrics"][0]["Dimensions"]
    assert dimensions == [["FunctionName"], ["FunctionName", "Version"]]
    assert (metric["FunctionName"], metric["Version"]) == ("memory-api", "7")


@pytest.fixture
def bus() -> FakeEventBridge:
    return FakeEventBridge()


@pytest.fixture
def deliver(service: Service, bus: FakeEventBridge) -> Callable[[list[Json]], list[str]]:
    return stream_function(service, bus, event_bus_types="*")


def test_a_trace_is_carried_to_the_bus(
    service: Service,
    tenant: Tenant,
    bus: FakeEventBridge,
    deliver: Callable[[list[Json]], list[str]],
) -> None:
    stream, admin = Stream(service), tenant.admin
    made = create(admin, entry(key="traced"))
    traced = {"traceparent": TRACEPARENT}
    path = f"{MEMORY}/{made['id']}"
    admin.patch(path, json={"value": {"n": 2}}, headers={"If-Match": "1", **traced})
    admin.patch(path, json={"value": {"n": 3}}, headers={"If-Match": "2"})
    admin.put(MEMORY, json=entry(key="traced", value={"n": 4}), headers=traced)
    admin.delete(path, headers=traced)
    assert deliver(stream.read()) == []
    assert [each.get("traceparent") for each in bus.accepted] == [
        None,
        TRACEPARENT,
        None,
        TRACEPARENT,
        TRACEPARENT,
    ]


def test_a_record_that_is_skipped_is_logged_with_its_trace(
    service: Service,
    tenant: Tenant,
    bus: FakeEventBridge,
    deliver: Callable[[list[Json]], list[str]],
    logged: io.StringIO,
) -> None:
    stream = Stream(service)
    tenant.admin.post(MEMORY, json=entry(key="lost"), headers={"traceparent": TRACEPARENT})
    records = stream.read()
    (record,) = [each for each in records if "traceparent" in each["dynamodb"]["NewImage"]]
    del record["dynamodb"]["NewImage"]["agent_id"]
    assert deliver(records) == []
    (line,) = lines_with("sequence", logged.getvalue())
    assert line["trace_id"] == TRACE
    keys = record["dynamodb"]["Keys"]
    assert line["item_key"] == f"{keys['pk']['S']} {keys['sk']['S']}"
    assert bus.accepted == []

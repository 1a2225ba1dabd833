"""The service in a test's own process: complete, isolated, and leaving no trace."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest
from botocore.handlers import BUILTIN_HANDLERS
from moto import mock_aws

from functions.local import in_process
from functions.local.bootstrap import MEMORY_TABLE
from functions.local.gateway import MAX_BODY, GatewayResponse
from functions.local.in_process import InProcess
from tests.contract.conftest import START
from tests.contract.transport import MovableClock

MEMORY = b"/api/v1/memory"
HOUR = 3600


@pytest.fixture(scope="module")
def process() -> Iterator[InProcess]:
    with in_process.start_in_process() as started:
        yield started


class Caller:
    """Calls the service as its first user."""

    def __init__(self, process: InProcess, clock: MovableClock) -> None:
        self._process = process
        self._key = process.begin(clock)
        self.clock = clock

    def call(self, method: str, target: bytes, body: object = None) -> GatewayResponse:
        sent = b"" if body is None else json.dumps(body).encode()
        return self._process.call(method, target, [("X-API-Key", self._key)], sent)

    def remember(self, key: str, **fields: Any) -> GatewayResponse:
        entry = {"namespace": "n", "key": key, "value": {}, "memory_type": "working"}
        return self.call("POST", MEMORY, entry | fields)

    def keys(self) -> list[str]:
        found = json.loads(self.call("GET", MEMORY + b"?agent_id=admin&memory_type=working").body)
        return sorted(entry["key"] for entry in found["entries"])

    def event_types(self) -> list[str]:
        events = json.loads(self.call("GET", b"/api/v1/agents/admin/events").body)["events"]
        return [event["type"] for event in events]


@pytest.fixture
def caller(process: InProcess) -> Caller:
    return Caller(process, MovableClock(START))


def test_it_begins_empty(process: InProcess, caller: Caller) -> None:
    assert caller.remember("a").status == 201
    assert Caller(process, caller.clock).keys() == []


def test_its_time_is_the_given_clocks(caller: Caller) -> None:
    caller.remember("a", ttl="duration:PT1H")
    caller.clock.advance(seconds=HOUR - 1)
    assert caller.keys() == ["a"]
    caller.clock.advance(seconds=1)
    assert caller.keys() == []


def test_settling_logs_events_and_removes_expired_entries(
    process: InProcess, caller: Caller
) -> None:
    caller.remember("a", ttl="duration:PT1H")
    assert caller.event_types() == []
    process.settle()
    assert caller.event_types() == ["memory.created"]
    caller.clock.advance(seconds=HOUR)
    process.settle()
    assert caller.event_types() == ["memory.created", "memory.expired"]
    assert count_items(process, "e#") == 0


def test_settling_removes_what_dynamodb_ttl_removes(process: InProcess, caller: Caller) -> None:
    made = json.loads(caller.remember("a").body)
    caller.call("DELETE", MEMORY + b"/" + made["id"].encode())
    assert count_items(process, "z#") == 1
    caller.clock.advance(seconds=48 * HOUR)
    process.settle()
    assert count_items(process, "z#") == 0


def count_items(process: InProcess, prefix: str) -> int:
    items = process.dynamodb.scan(TableName=MEMORY_TABLE)["Items"]
    return sum(item["sk"]["S"].startswith(prefix) for item in items)


@pytest.mark.usefixtures("caller")
def test_settling_skips_a_record_that_cannot_be_read(process: InProcess) -> None:
    broken = {"pk": {"S": "default#a#x"}, "sk": {"S": "e#broken"}}
    process.dynamodb.put_item(TableName=MEMORY_TABLE, Item=broken)
    process.settle()
    process.settle()


def test_it_is_safe_for_threads(caller: Caller) -> None:
    names = [f"k{number}" for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        statuses = {answer.status for answer in pool.map(caller.remember, names)}
    assert statuses == {201}
    assert caller.keys() == sorted(names)


def test_the_gateway_answers_by_itself_as_everywhere(caller: Caller) -> None:
    assert caller.call("GET", b"/api/v1/memory/%ff").status == 400
    assert caller.remember("a", value={"text": "x" * MAX_BODY}).status == 413


def test_it_needs_and_touches_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_PROFILE", "there-is-none")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    before = dict(os.environ)
    handlers = list(BUILTIN_HANDLERS)
    with in_process.start_in_process() as process:
        assert dict(os.environ) == before
        assert handlers == BUILTIN_HANDLERS
        caller = Caller(process, MovableClock(START))
        assert caller.remember("a").status == 201
        process.settle()
        assert caller.event_types() == ["memory.created"]
    assert dict(os.environ) == before


def test_it_is_isolated_from_mock_aws(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)  # another test's engine
    caller.remember("before")
    with mock_aws():
        own = boto3.client("dynamodb", region_name="us-east-1")
        assert own.list_tables()["TableNames"] == []
        assert caller.remember("within").status == 201
    assert caller.keys() == ["before", "within"]


def test_two_at_once_are_isolated(caller: Caller) -> None:
    caller.remember("a")
    with in_process.start_in_process() as second:
        other = Caller(second, caller.clock)
        assert other.keys() == []
        assert other.remember("b").status == 201
    assert caller.keys() == ["a"]

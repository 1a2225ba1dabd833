"""The change stream as tests read it, and the stream function that takes it."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import boto3
import httpx
from botocore.config import Config

from functions.container import Container
from functions.events.event_bus import EventBus, parse_event_types
from functions.platform.settings import StreamSettings
from functions.stream.handler import build_handler
from tests.contract.expect import ok
from tests.contract.service import Service

Json = dict[str, Any]


class Stream:
    """The changes of the memory table since this was made, as Lambda delivers them."""

    def __init__(self, service: Service) -> None:
        url = service.engine.environment["AWS_ENDPOINT_URL_DYNAMODB"]
        config = Config(parameter_validation=False)
        self._client = boto3.client("dynamodbstreams", endpoint_url=url, config=config)
        table = service.engine.client.describe_table(TableName=service.engine.memory)["Table"]
        self._arn = table["LatestStreamArn"]
        stream = self._client.describe_stream(StreamArn=self._arn)["StreamDescription"]
        (shard,) = stream["Shards"]
        self._iterator = self._client.get_shard_iterator(
            StreamArn=self._arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        self.read()  # a table made again under its name has the former one's changes

    def read(self) -> list[Json]:
        records: list[Json] = []
        while True:
            page = self._client.get_records(ShardIterator=self._iterator)
            self._iterator = page["NextShardIterator"]
            if not page["Records"]:
                return [as_delivered(each, self._arn) for each in records]
            records += page["Records"]


def as_delivered(record: Json, arn: str) -> Json:
    """Return a record as Lambda's event has it: JSON, with binary values in base64."""

    def plain(value: Any) -> Any:
        return b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()

    delivered: Json = json.loads(json.dumps(record | {"eventSourceARN": arn}, default=plain))
    return delivered


class FakeEventBridge:
    """An EventBridge client that accepts all events but those about the keys in `refused`."""

    def __init__(self) -> None:
        self.accepted: list[Json] = []
        self.refused: set[str | None] = set()

    def put_events(self, *, Entries: list[Json]) -> Json:  # noqa: N803
        details = [json.loads(each["Detail"]) for each in Entries]
        refused = [each["data"].get("key") in self.refused for each in details]
        self.accepted += [each for each, no in zip(details, refused, strict=True) if not no]
        results = [{"ErrorCode": "InternalFailure"} if no else {"EventId": "1"} for no in refused]
        return {"FailedEntryCount": sum(refused), "Entries": results}


def stream_function(
    service: Service, event_bridge: FakeEventBridge | None = None, **settings: Any
) -> Callable[[list[Json]], list[str]]:
    """A new instance of the stream function: takes records, gives the failed ones' numbers."""
    memory, log = service.engine.memory, service.engine.log
    chosen = StreamSettings(memory_table=memory, log_table=log, **settings)
    container = Container(chosen, service.clock)
    if event_bridge is not None:
        types = parse_event_types(chosen.event_bus_types)
        container.event_bus = EventBus(event_bridge, "agent-memory", types)
    handler = build_handler(container)

    def deliver(records: list[Json]) -> list[str]:
        answer = handler({"Records": json.loads(json.dumps(records))}, None)
        assert answer.keys() == {"batchItemFailures"}
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    return deliver


def sequence(record: Json) -> str:
    """A record's number in its shard."""
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


def log(client: httpx.Client, path: str, **query: Any) -> list[Json]:
    """The events of a log: `agents/ada`, `intents/i`, `memory/namespaces/n`."""
    events: list[Json] = ok(client.get(f"/api/v1/{path}/events", params=query))["events"]
    return events


def summarize(events: list[Json]) -> list[str]:
    """Events in short: what happened to which key at which version."""
    return [
        f"{each['type'].removeprefix('memory.')} {each['data']['key']} {each['data']['version']}"
        for each in events
    ]

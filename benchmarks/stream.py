"""How many events a second the stream function takes from one shard, with the waits of the cloud.

Each DynamoDB call waits for 5 ms and each call of the bus for 10 ms more than here. The waits of an
invocation are those of its busiest thread; its CPU is measured here, and a Lambda function of 1,769
MB has one such core. An invocation takes as long as its waits or its CPU, whichever is longer.
"""

import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from threading import get_ident
from typing import Any
from unittest.mock import patch

from benchmarks.capacity import recorded
from benchmarks.inprocess import Caller, Function, function
from benchmarks.tables import text_table
from benchmarks.workload import entry
from functions.container import Container
from functions.event_log.event_bus import EventBus, parse_event_types
from functions.platform.settings import StreamSettings
from functions.stream.handler import build_handler

GOAL = 1_000  # events a second from one shard
STORE_SECONDS, BUS_SECONDS = 0.005, 0.010  # a call's wait
FACTOR, BATCH = 8, 200  # as in infra; a function of 1,769 MB has one core
_ROUNDS = 3
_BEFORE_SENDING = "before-send.dynamodb"
_VERSIONS = itertools.count(100)
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A batch of one kind, the fastest of some rounds.

    Attributes:
        calls: of DynamoDB and of the bus.
        waits_ms: of the busiest thread.
        cpu_ms: of all threads.
    """

    kind: str
    events: int
    calls: int
    waits_ms: float
    cpu_ms: float

    @property
    def seconds(self) -> float:
        """How long an invocation takes."""
        return max(self.waits_ms, self.cpu_ms) / 1000

    @property
    def shard_rate(self) -> float:
        """Events a second from one shard."""
        return FACTOR * self.events / self.seconds

    @property
    def ratio(self) -> float:
        """The rate, in the goal's."""
        return self.shard_rate / GOAL


class _Waits:
    """What each thread has waited for, in seconds."""

    def __init__(self) -> None:
        self._seconds: defaultdict[int, float] = defaultdict(float)

    def wait(self, seconds: float) -> None:
        """Wait, as a call over a network does."""
        self._seconds[get_ident()] += seconds
        time.sleep(seconds)

    def take_longest(self) -> float:
        """Give what one thread has waited for at most, and begin anew."""
        longest = max(self._seconds.values(), default=0.0)
        self._seconds.clear()
        return longest


class _SlowEventBridge:
    """A client of EventBridge that takes everything, after a while."""

    def __init__(self, waits: _Waits) -> None:
        self._waits = waits
        self.calls = 0

    def put_events(self, *, Entries: list[Record]) -> Record:  # noqa: N803
        """Take events, as boto3's client does."""
        self.calls += 1
        self._waits.wait(BUS_SECONDS)
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in Entries]}


def measure() -> list[Row]:
    """Measure batches of changes: of as many logs, of one, and with all on the bus."""
    with function() as running:
        tenant = running.new_tenant("stream")
        apart = [{"scope": {"intent_id": f"intent-{number}"}} for number in range(BATCH)]
        together: list[Record] = [{} for _ in range(BATCH)]
        many, one = (_change(running, tenant, scopes) for scopes in (apart, together))
        return [
            _measure(running, f"{BATCH} changes of as many logs", many, StreamSettings),
            _measure(running, f"{BATCH} changes of one log", one, StreamSettings),
            _measure(
                running,
                f"{BATCH} changes of as many logs, all on the bus",
                many,
                lambda **names: StreamSettings(**names, event_bus_types="*"),
            ),
            _measure(
                running,
                f"{BATCH} changes of as many logs, without vectors",
                many,
                lambda **names: StreamSettings(**names, stream_consumers="events,quotas"),
            ),
        ]


def _change(running: Function, caller: Caller, scopes: Sequence[Record]) -> list[Record]:
    """Create an entry for each scope and change its value; give the records of the changes."""
    ids: list[str] = []
    for number, scope in enumerate(scopes):
        body = entry(caller.id, f"{len(scopes)}-{len(scope)}-{number}", "episodic", ["billing"])
        ids.append(caller.send("POST", "/api/v1/memory", body | scope)["id"])
    before = _scan(running.client)
    for number, each in enumerate(ids):
        value = {"text": f"the invoice {number} was paid " * 30}
        caller.call("PATCH", f"/api/v1/memory/{each}", {"value": value}, if_match="1")
    changed = [each for each in _scan(running.client).items() if each[1] != before.get(each[0])]
    return [
        {
            "eventName": "MODIFY",
            "dynamodb": {
                "SequenceNumber": str(number),
                "Keys": {"pk": {"S": key[0]}, "sk": {"S": key[1]}},
                "OldImage": before[key],
                "NewImage": item,
            },
        }
        for number, (key, item) in enumerate(changed)
        if key[1].startswith("e#")
    ]


def _scan(client: Any) -> dict[tuple[str, str], Record]:
    items: dict[tuple[str, str], Record] = {}
    request: Record = {"TableName": "memory"}
    while True:
        page = client.scan(**request)
        items |= {(each["pk"]["S"], each["sk"]["S"]): each for each in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return items
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _measure(
    running: Function, kind: str, records: list[Record], choose: Callable[..., StreamSettings]
) -> Row:
    """Measure a batch as the first delivery of other changes each time."""
    waits = _Waits()
    bridge = _SlowEventBridge(waits)
    with patch("functions.common_services.create_client", return_value=running.client):
        container = Container(choose(memory_table="memory", log_table="log"))
    types = parse_event_types(container.settings.event_bus_types)
    container.event_bus = EventBus(bridge, "bus", types)
    handle = build_handler(container)
    handle(_build_event(records), None)  # begins the logs
    bridge.calls = 0
    with recorded(running.client) as recording:
        handle(_build_event(records), None)
    calls = len(recording) + bridge.calls
    rounds = []
    for _ in range(_ROUNDS):
        event = _build_event(records)
        waits.take_longest()
        with _slow(running.client, waits):
            cpu = time.process_time()
            answer = handle(event, None)
            cpu = time.process_time() - cpu
        if answer["batchItemFailures"]:
            raise RuntimeError(f"{kind}: {len(answer['batchItemFailures'])} records failed")
        rounds.append(Row(kind, len(records), calls, waits.take_longest() * 1000, cpu * 1000))
    return min(rounds, key=lambda row: row.seconds)


def _build_event(records: Sequence[Record]) -> Record:
    """Build an event of the same changes, to a later version, which no log has yet."""
    copies: list[Record] = json.loads(json.dumps(records))
    version = next(_VERSIONS)
    for each in copies:
        images = each["dynamodb"]["OldImage"], each["dynamodb"]["NewImage"]
        for image, number in zip(images, (version, version + 1), strict=True):
            image["version"] = {"N": str(number)}
            image["updated"] = {"N": str(int(image["updated"]["N"]) + 1000 * number)}
    return {"Records": copies}


@contextmanager
def _slow(client: Any, waits: _Waits) -> Iterator[None]:
    """Have each call wait, as one over a network does."""

    def wait(**_: Any) -> None:
        waits.wait(STORE_SECONDS)

    client.meta.events.register(_BEFORE_SENDING, wait)
    try:
        yield
    finally:
        client.meta.events.unregister(_BEFORE_SENDING, wait)


def as_data(found: Sequence[Row]) -> list[dict[str, object]]:
    """All figures."""
    return [
        asdict(row) | {"shard_rate": round(row.shard_rate), "ratio": row.ratio} for row in found
    ]


def as_text(found: Sequence[Row]) -> str:
    """The table."""
    heads = [
        "a batch",
        "calls",
        "waits, ms",
        "CPU, ms",
        "events/s, one invocation",
        "of a shard",
        "of goal",
    ]
    rows = [
        [
            row.kind,
            str(row.calls),
            f"{row.waits_ms:.0f}",
            f"{row.cpu_ms:.0f}",
            f"{row.events / row.seconds:,.0f}",
            f"{row.shard_rate:,.0f}",
            f"{row.ratio:.2f}",
        ]
        for row in found
    ]
    return text_table(heads, rows)

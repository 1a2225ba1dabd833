"""Measure the events per second that the stream function takes from one shard.

Each DynamoDB call is delayed by 5 ms, as in the cloud. A function of 1,769 MB has one core, so an
invocation takes the CPU of all threads or the waits of its busiest thread, whichever is longer.
"""

import itertools
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from benchmarks.capacity import recorded
from benchmarks.inprocess import Caller, Function, function
from benchmarks.tables import text_table
from benchmarks.workload import entry
from functions.container import Container
from functions.platform.settings import StreamSettings
from functions.stream.handler import build_handler

GOAL = 1_000  # events a second from one shard
STORE_SECONDS = 0.005  # the delay of a call
FACTOR, BATCH = 8, 200  # as in infra; a function of 1,769 MB has one core
_ROUNDS = 3
_BEFORE_SENDING = "before-send.dynamodb"
_VERSIONS = itertools.count(100)
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """The fastest of some rounds of a batch.

    Attributes:
        calls: the number of DynamoDB calls.
        waits_ms: the delays of the busiest thread.
        cpu_ms: the CPU of all threads.
    """

    kind: str
    events: int
    calls: int
    waits_ms: float
    cpu_ms: float

    @property
    def seconds(self) -> float:
        """Return the duration of an invocation."""
        return max(self.waits_ms, self.cpu_ms) / 1000

    @property
    def shard_rate(self) -> float:
        """Return the events per second of one shard."""
        return FACTOR * self.events / self.seconds

    @property
    def ratio(self) -> float:
        """Return the rate divided by the goal."""
        return self.shard_rate / GOAL


class _Waits:
    """The delays of each thread, in seconds."""

    def __init__(self) -> None:
        self._seconds: defaultdict[int, float] = defaultdict(float)

    def wait(self, seconds: float) -> None:
        """Delay a call of this thread."""
        self._seconds[get_ident()] += seconds
        time.sleep(seconds)

    def take_longest(self) -> float:
        """Return the longest delay of a thread, and reset all."""
        longest = max(self._seconds.values(), default=0.0)
        self._seconds.clear()
        return longest


def measure() -> list[Row]:
    """Measure a batch of changes in different logs, and one of changes in the same log."""
    with function() as running:
        tenant = running.new_tenant("stream")
        apart = [{"scope": {"intent_id": f"intent-{number}"}} for number in range(BATCH)]
        together: list[Record] = [{} for _ in range(BATCH)]
        many, one = (_change(running, tenant, scopes) for scopes in (apart, together))
        return [
            _measure(running, f"{BATCH} changes of as many logs", many),
            _measure(running, f"{BATCH} changes of one log", one),
        ]


def _change(running: Function, caller: Caller, scopes: Sequence[Record]) -> list[Record]:
    """Create an entry for each scope and change its value; return the records of the changes."""
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


def _measure(running: Function, kind: str, records: list[Record]) -> Row:
    """Measure a batch; each round delivers later versions of the same changes."""
    waits = _Waits()
    settings = StreamSettings(memory_table="memory", log_table="log")
    handle = build_handler(Container(settings, dynamodb=running.client))
    handle(_build_event(records), None)  # creates the logs
    with recorded(running.client) as recording:
        handle(_build_event(records), None)
    calls = len(recording)
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
    """Build an event of the same changes to a later version, which no log contains."""
    copies: list[Record] = json.loads(json.dumps(records))
    version = next(_VERSIONS)
    for each in copies:
        images = each["dynamodb"]["OldImage"], each["dynamodb"]["NewImage"]
        for image, number in zip(images, (version, version + 1), strict=True):
            image["version"] = {"N": str(number)}
            image["updated_at"] = {"N": str(int(image["updated_at"]["N"]) + 1000 * number)}
    return {"Records": copies}


@contextmanager
def _slow(client: Any, waits: _Waits) -> Iterator[None]:
    """Delay each call of a client."""

    def wait(**_: Any) -> None:
        waits.wait(STORE_SECONDS)

    client.meta.events.register(_BEFORE_SENDING, wait)
    try:
        yield
    finally:
        client.meta.events.unregister(_BEFORE_SENDING, wait)


def as_text(found: Sequence[Row]) -> str:
    """Render the table."""
    heads = ["a batch", "calls", "waits, ms", "CPU, ms", "events/s of a shard", "of goal"]
    rows = [
        [
            row.kind,
            str(row.calls),
            f"{row.waits_ms:.0f}",
            f"{row.cpu_ms:.0f}",
            f"{row.shard_rate:,.0f}",
            f"{row.ratio:.2f}",
        ]
        for row in found
    ]
    return text_table(heads, rows)

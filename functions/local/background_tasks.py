"""Background tasks: read the change stream, run the schedule, remove expired items."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any

from functions.container import Container
from functions.local import bootstrap
from functions.local.data_folder import DataFolder
from functions.local.database import Database, Trim
from functions.local.gateway import Handler, LocalContext
from functions.local.settings import LocalSettings
from functions.local.stream_mapping import (
    ATTEMPTS,
    ATTEMPTS_OF_A_DAY,
    StreamMapping,
    StreamReader,
    find_stream,
)
from functions.platform.aws import create_client
from functions.platform.clock import Clock, now_ms, to_rfc3339
from functions.platform.cold_start import pause_gc
from functions.platform.item_types import PRIVATE_ENTRY
from functions.platform.observability import log_unexpected
from functions.platform.schema import TTL_ATTRIBUTE
from functions.schedule.handler import build_handler as build_schedule_handler
from functions.stream.handler import ALL_CONSUMERS
from functions.stream.handler import build_handler as build_stream_handler

_STREAM_SECONDS = 0.1  # between two reads of the stream
_CLEAN_UP_SECONDS = 3600.0  # longer than for other tasks: each run scans all tables
_EXPIRED = f"{TTL_ATTRIBUTE} <= :now"
_STOPPED_WITHIN = 15.0  # seconds; longer than a call takes to stop
_ACCOUNT, _REGION = "000000000000", "local"
_SCHEDULE = f"arn:aws:scheduler:{_REGION}:{_ACCOUNT}:schedule/default/agent-memory-sweep"


@contextmanager
def run_background_tasks(
    settings: LocalSettings, folder: DataFolder, database: Database, container: Container
) -> Iterator[None]:
    """Run each background task in a thread, and stop all of them at the end."""
    dynamodb, streams = create_client("dynamodb"), create_client("dynamodbstreams")
    arn = find_stream(dynamodb, bootstrap.MEMORY_TABLE)
    groups = _group_consumers(settings)
    readers = {name: StreamReader(streams, arn, folder, f"{name}-position.json") for name in groups}
    with pause_gc():
        mappings = {
            name: StreamMapping(
                build_stream_handler(container, names),
                readers[name],
                folder,
                ATTEMPTS if name == "stream" else ATTEMPTS_OF_A_DAY,
            )
            for name, names in groups.items()
        }
        schedule = build_schedule_handler(container)

    def sweep(stopping: Event) -> None:
        run_schedule(schedule, now_ms(), stopping)

    def clean_up(trim: Trim, stopping: Event) -> None:
        trim(bootstrap.MEMORY_TABLE, min(each.processed for each in readers.values()))
        for table in (bootstrap.MEMORY_TABLE, bootstrap.LOG_TABLE):
            remove_expired_items(dynamodb, table, now_ms, stopping)

    with ExitStack() as stack:
        for name, mapping in mappings.items():
            stack.enter_context(run_periodically(_STREAM_SECONDS, mapping.run_once, name))
        stack.enter_context(run_periodically(settings.sweep_seconds, sweep, "schedule"))
        if database.trim is not None:
            task = partial(clean_up, database.trim)
            stack.enter_context(run_periodically(_CLEAN_UP_SECONDS, task, "ttl"))
        yield


def _group_consumers(settings: LocalSettings) -> dict[str, list[str]]:
    """Group the consumers of the stream, so that a model delays only the consumer that asks it."""
    models = {"learning": settings.learning_url, "vectors": settings.embedding_url}
    apart = {name: [name] for name, url in models.items() if url is not None}
    return {"stream": [name for name in ALL_CONSUMERS if name not in apart], **apart}


@contextmanager
def run_periodically(seconds: float, task: Callable[[Event], object], name: str) -> Iterator[None]:
    """Call a task repeatedly in a thread; at the end, wait for the running call.

    Args:
        seconds: from the end of one call to the start of the next.
        task: takes an event that is set when the task has to stop. Its exceptions are logged.
    """
    stopping = Event()

    def run() -> None:
        while not stopping.is_set():
            try:
                task(stopping)
            except Exception as error:  # noqa: BLE001 - the next call may succeed
                log_unexpected(error, worker=name)
            stopping.wait(seconds)

    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(_STOPPED_WITHIN)


def run_schedule(handler: Handler, now: int, stopping: Event) -> dict[str, Any]:
    """Call the scheduled function once, at `now` (epoch ms), and return its counts."""
    return handler(to_schedule_event(now), LocalContext(stopping))


def to_schedule_event(now: int) -> dict[str, Any]:
    """Build the event that EventBridge Scheduler sends at `now` (epoch ms), in whole seconds."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": _ACCOUNT,
        "time": to_rfc3339(now // 1000 * 1000).replace(".000Z", "Z"),
        "region": _REGION,
        "resources": [_SCHEDULE],
        "detail": "{}",
    }


def remove_expired_items(dynamodb: Any, table: str, clock: Clock, stopping: Event) -> int:
    """Remove a table's items after `ttl_at`, as DynamoDB's TTL does; return how many were removed.

    Expired entries stay, because the scheduled function removes them with their counters.

    Args:
        stopping: once it is set, no further page is read.
    """
    now = {"N": str(clock() // 1000)}
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table,
        ProjectionExpression="pk, sk",
        FilterExpression=f"{_EXPIRED} AND NOT begins_with(sk, :entry)",
        ExpressionAttributeValues={":now": now, ":entry": {"S": PRIVATE_ENTRY.sort_prefix}},
    )
    removed = 0
    for page in pages:
        if stopping.is_set():
            break
        for key in page["Items"]:
            removed += _remove(dynamodb, table, key, now)
    return removed


def _remove(dynamodb: Any, table: str, key: dict[str, Any], now: dict[str, str]) -> bool:
    """Remove one item, unless its time was extended or another process removed it."""
    try:
        dynamodb.delete_item(
            TableName=table,
            Key=key,
            ConditionExpression=_EXPIRED,
            ExpressionAttributeValues={":now": now},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True

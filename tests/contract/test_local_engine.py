"""The embedded database: it stays fast, and stops with the process that started it."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from functions.local.engine import Engine, find_binary, index_stream, start, trim_stream
from functions.platform.schema import build_memory_table
from tests.contract.local_server import ROOT, await_refusal

BINARY = find_binary(ROOT)
pytestmark = pytest.mark.skipif(BINARY is None, reason="no embedded database for this platform")


def binary() -> Path:
    assert BINARY
    return BINARY


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def started(tmp_path: Path, database: Path) -> Iterator[Engine]:
    running = start(binary(), database, tmp_path / "engine.log")
    yield running
    running.stop()


def client(engine: Engine, service: str = "dynamodb") -> Any:
    return boto3.client(service, endpoint_url=engine.url, config=Config(parameter_validation=False))


def write(dynamodb: Any, numbers: range) -> None:
    """Puts an item a number, 25 in a call."""
    for first in range(numbers.start, numbers.stop, 25):
        chunk = [{"pk": {"S": "a"}, "sk": {"S": f"{n:06}"}} for n in range(first, first + 25)]
        requests = [{"PutRequest": {"Item": item}} for item in chunk]
        dynamodb.batch_write_item(RequestItems={"memory": requests})


def stored_records(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        (count,) = connection.execute("SELECT COUNT(*) FROM _stream_records").fetchone()
        return int(count)


def read_stream(engine: Engine) -> list[dict[str, Any]]:
    """Everything that the change stream still holds, as a consumer reads it."""
    streams = client(engine, "dynamodbstreams")
    (stream,) = streams.list_streams(TableName="memory")["Streams"]
    arn = stream["StreamArn"]
    (shard,) = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = streams.get_shard_iterator(
        StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    records: list[dict[str, Any]] = []
    while True:
        page = streams.get_records(ShardIterator=iterator)
        if not page["Records"]:
            return records
        records += page["Records"]
        iterator = page["NextShardIterator"]


def number(record: dict[str, Any]) -> int:
    return int(record["dynamodb"]["SequenceNumber"])


def test_processed_records_are_dropped_and_the_sequence_continues(
    started: Engine, database: Path
) -> None:
    dynamodb = client(started)
    dynamodb.create_table(**build_memory_table("memory"))
    write(dynamodb, range(300))
    index_stream(database)
    trim_stream(database, "memory", 200)
    assert [number(record) for record in read_stream(started)] == list(range(200, 301))
    trim_stream(database, "memory", 300)
    write(dynamodb, range(300, 350))
    assert [number(record) for record in read_stream(started)] == list(range(300, 351))
    assert stored_records(database) == 51
    assert (
        dynamodb.query(
            TableName="memory",
            Select="COUNT",
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": "a"}},
        )["Count"]
        == 350
    )


def test_the_sequence_continues_after_a_restart(tmp_path: Path, database: Path) -> None:
    for numbers in (range(100), range(100, 200)):
        engine = start(binary(), database, tmp_path / "engine.log")
        index_stream(database)
        dynamodb = client(engine)
        if not numbers.start:
            dynamodb.create_table(**build_memory_table("memory"))
        write(dynamodb, numbers)
        trim_stream(database, "memory", numbers.stop)
        assert [number(record) for record in read_stream(engine)] == [numbers.stop]
        engine.stop()


@pytest.mark.parametrize(
    "statement",
    [
        (
            "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records "
            "WHERE table_name = 'memory'"
        ),
        (
            "SELECT event_name FROM _stream_records WHERE table_name = 'memory' AND shard_id = 's' "
            "AND CAST(sequence_number AS INTEGER) > 7 ORDER BY CAST(sequence_number AS INTEGER) ASC"
        ),
    ],
    ids=["at each write", "at each read of the stream"],
)
@pytest.mark.usefixtures("started")
def test_the_engines_queries_of_stream_records_use_the_index(
    database: Path, statement: str
) -> None:
    index_stream(database)
    with closing(sqlite3.connect(database)) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert [step for step in plan if not step.startswith("SEARCH")] == []
    assert all("agent_memory_stream_order" in step for step in plan)


def test_an_engine_that_cannot_start_is_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "memory.db"
    broken.write_text("this is no database" * 1_000)
    with pytest.raises(Exception, match=r"engine\.log") as error:
        start(binary(), broken, tmp_path / "engine.log")
    assert "\n" not in str(error.value)


def test_it_stops_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from functions.local.engine import start; "
        "print(start(Path(sys.argv[1]), None, Path(sys.argv[2])).url, flush=True); "
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(binary()), str(tmp_path / "engine.log")]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        url = httpx.URL(parent.stdout.readline().strip())
        parent.kill()
        await_refusal(url)

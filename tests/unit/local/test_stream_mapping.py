"""Test how the stream function gets changes: in order, again, and with dead letters."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from functions.local import stream_mapping
from functions.local.data_folder import DataFolder
from functions.local.stream_mapping import (
    DEAD_LETTERS,
    POSITION,
    Record,
    StreamMapping,
    StreamReader,
)
from functions.platform.errors import Unavailable

ARN = "arn:stream"
Json = dict[str, Any]


class Streams:
    """A client of one shard's stream."""

    class exceptions:  # noqa: N801 - as boto3 calls it
        """None is raised here."""

        class TrimmedDataAccessException(Exception):
            """The record was trimmed."""

    def __init__(self, count: int) -> None:
        self.numbers = list(range(1, count + 1))

    def describe_stream(self, **_: Any) -> Json:
        return {"StreamDescription": {"Shards": [{"ShardId": "s"}]}}

    def get_shard_iterator(self, **request: Any) -> Json:
        return {"ShardIterator": request.get("SequenceNumber", "0")}

    def get_records(self, **request: Any) -> Json:
        after = int(request["ShardIterator"])
        rest = [number for number in self.numbers if number > after][: request["Limit"]]
        return {
            "Records": list(map(record, rest)),
            "NextShardIterator": str(rest[-1] if rest else after),
        }


def record(number: int) -> Record:
    keys = {"pk": {"S": "acme#a#x"}, "sk": {"S": f"e#{number}"}}
    images = {"SequenceNumber": str(number), "Keys": keys, "NewImage": {"value": {"S": "hush"}}}
    return {"eventID": str(number), "eventName": "INSERT", "dynamodb": images}


class Function:
    """A stream function that notes which records it is given, and which it processes."""

    def __init__(self, *, fails: set[int] | None = None, raises: set[int] | None = None) -> None:
        self.given: list[int] = []
        self.processed: list[int] = []
        self._fails, self._raises = fails or set(), raises or set()

    def __call__(self, event: Json, _context: object) -> Json:
        numbers = [int(each["dynamodb"]["SequenceNumber"]) for each in event["Records"]]
        assert all(each["eventSourceARN"] == ARN for each in event["Records"])
        self.given += numbers
        if self._raises & set(numbers):
            raise RuntimeError("broken")
        failed = self._fails & set(numbers)
        self.processed += [number for number in numbers if number not in failed]
        return {"batchItemFailures": [{"itemIdentifier": str(each)} for each in sorted(failed)]}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_mapping, "_FIRST_PAUSE", 0.0)


def mapping(function: Any, streams: Streams, path: Path) -> StreamMapping:
    folder = DataFolder(path)
    return StreamMapping(function, StreamReader(streams, ARN, folder), folder)


def dead_letters(path: Path) -> list[str]:
    file = path / DEAD_LETTERS
    lines = file.read_text().splitlines() if file.exists() else []
    assert "hush" not in "".join(lines)
    return [json.loads(line)["sequence"] for line in lines]


def test_it_continues_where_it_stopped(tmp_path: Path) -> None:
    streams, function = Streams(3), Function()
    mapping(function, streams, tmp_path).run_once(Event())
    streams.numbers += [4, 5]
    mapping(function, streams, tmp_path).run_once(Event())
    assert function.given == [1, 2, 3, 4, 5]


def test_another_stream_is_read_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / POSITION).write_text(json.dumps({"stream": "arn:old", "shards": {"s": "2"}}))
    function = Function()
    mapping(function, Streams(3), tmp_path).run_once(Event())
    assert function.given == [1, 2, 3]


def test_a_record_that_fails_again_and_again_is_a_dead_letter(tmp_path: Path) -> None:
    function = Function(fails={3})
    mapping(function, Streams(5), tmp_path).run_once(Event())
    assert function.given.count(3) == 5
    assert sorted(set(function.processed)) == [1, 2, 4, 5]
    assert dead_letters(tmp_path) == ["3"]


def test_a_record_at_which_the_function_raises_is_found_among_many(tmp_path: Path) -> None:
    function = Function(raises={70})
    mapping(function, Streams(100), tmp_path).run_once(Event())
    assert sorted(set(function.processed)) == [n for n in range(1, 101) if n != 70]
    assert dead_letters(tmp_path) == ["70"]


def test_an_unavailable_store_makes_no_dead_letters(tmp_path: Path) -> None:
    calls: list[Json] = []

    def fail(event: Json, _context: object) -> Json:
        calls.append(event)
        raise Unavailable("no connection")

    streams = Streams(2)
    for _ in range(10):
        mapping(fail, streams, tmp_path).run_once(Event())
    assert len(calls) == 10
    function = Function()
    mapping(function, streams, tmp_path).run_once(Event())
    assert function.processed == [1, 2]
    assert dead_letters(tmp_path) == []


def test_the_reader_knows_what_is_processed(tmp_path: Path) -> None:
    folder, stopping = DataFolder(tmp_path), Event()
    reader = StreamReader(Streams(2_600), ARN, folder)
    assert reader.processed == 0
    StreamMapping(Function(fails={2_001}), reader, folder).run_once(stopping)
    assert reader.processed == 2_600
    assert StreamReader(Streams(0), ARN, folder).processed == 2_600


def test_what_fails_is_not_processed(tmp_path: Path) -> None:
    def stop(_event: Json, _context: object) -> Json:
        stopping.set()
        return {"batchItemFailures": [{"itemIdentifier": "3"}]}

    folder, stopping = DataFolder(tmp_path), Event()
    reader = StreamReader(Streams(5), ARN, folder)
    StreamMapping(stop, reader, folder).run_once(stopping)
    assert reader.processed == 2


def test_it_stops_between_two_batches(tmp_path: Path) -> None:
    stopping, function = Event(), Function()

    def stop(event: Json, context: object) -> Json:
        stopping.set()
        return function(event, context)

    mapping(stop, Streams(2_600), tmp_path).run_once(stopping)
    assert function.given == list(range(1, 1_001))

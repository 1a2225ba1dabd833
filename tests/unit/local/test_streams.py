"""How changes are handed to the stream function: in order, again, and at last to the dead."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from functions.local import streams
from functions.local.data_folder import DataFolder
from functions.local.shards import POSITION, Record, Shards
from functions.local.streams import DEAD_LETTERS, StreamMapping
from functions.platform.errors import Unavailable

ARN = "arn:stream"
Json = dict[str, Any]


class Engine:
    """A client of one shard's stream."""

    class exceptions:  # noqa: N801 - as boto3 calls it
        """None is raised here."""

        class TrimmedDataAccessException(Exception):
            """What was asked for is gone."""

    def __init__(self, count: int) -> None:
        self.numbers = list(range(1, count + 1))

    def describe_stream(self, **_: Any) -> Json:
        """As boto3's."""
        return {"StreamDescription": {"Shards": [{"ShardId": "s"}]}}

    def get_shard_iterator(self, **request: Any) -> Json:
        """As boto3's."""
        return {"ShardIterator": request.get("SequenceNumber", "0")}

    def get_records(self, **request: Any) -> Json:
        """As boto3's."""
        after = int(request["ShardIterator"])
        rest = [number for number in self.numbers if number > after][: request["Limit"]]
        return {
            "Records": list(map(record, rest)),
            "NextShardIterator": str(rest[-1] if rest else after),
        }


def record(number: int) -> Record:
    """A change of an entry."""
    keys = {"pk": {"S": "acme#a#x"}, "sk": {"S": f"e#{number}"}}
    images = {"SequenceNumber": str(number), "Keys": keys, "NewImage": {"val": {"S": "hush"}}}
    return {"eventID": str(number), "eventName": "INSERT", "dynamodb": images}


class Function:
    """A stream function that notes what it is given and takes."""

    def __init__(self, *, names: set[int] | None = None, breaks: set[int] | None = None) -> None:
        self.given: list[int] = []
        self.taken: list[int] = []
        self._names, self._breaks = names or set(), breaks or set()

    def __call__(self, event: Json, _context: object) -> Json:
        numbers = [int(each["dynamodb"]["SequenceNumber"]) for each in event["Records"]]
        assert all(each["eventSourceARN"] == ARN for each in event["Records"])
        self.given += numbers
        if self._breaks & set(numbers):
            raise RuntimeError("broken")
        failed = self._names & set(numbers)
        self.taken += [number for number in numbers if number not in failed]
        return {"batchItemFailures": [{"itemIdentifier": str(each)} for each in sorted(failed)]}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_FIRST_PAUSE", 0.0)


def mapping(function: Any, engine: Engine, path: Path, trim: Any = None) -> StreamMapping:
    """The mapping, as it starts on a data folder."""
    folder = DataFolder(path)
    return StreamMapping(function, Shards(engine, ARN, folder), folder, trim)


def dead(path: Path) -> list[str]:
    """The numbers of the dead letters."""
    file = path / DEAD_LETTERS
    lines = file.read_text().splitlines() if file.exists() else []
    assert "hush" not in "".join(lines)
    return [json.loads(line)["sequence"] for line in lines]


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    engine, function = Engine(3), Function()
    mapping(function, engine, tmp_path).turn(Event())
    engine.numbers += [4, 5]
    mapping(function, engine, tmp_path).turn(Event())
    assert function.given == [1, 2, 3, 4, 5]


def test_another_stream_is_read_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / POSITION).write_text(json.dumps({"stream": "arn:old", "shards": {"s": "2"}}))
    function = Function()
    mapping(function, Engine(3), tmp_path).turn(Event())
    assert function.given == [1, 2, 3]


def test_a_record_that_is_named_again_and_again_is_a_dead_letter(tmp_path: Path) -> None:
    function = Function(names={3})
    mapping(function, Engine(5), tmp_path).turn(Event())
    assert function.given.count(3) == 5
    assert sorted(set(function.taken)) == [1, 2, 4, 5]
    assert dead(tmp_path) == ["3"]


def test_a_record_that_breaks_the_function_is_found_among_many(tmp_path: Path) -> None:
    function = Function(breaks={70})
    mapping(function, Engine(100), tmp_path).turn(Event())
    assert sorted(set(function.taken)) == [n for n in range(1, 101) if n != 70]
    assert dead(tmp_path) == ["70"]


def test_a_store_out_of_reach_costs_nobody_a_try(tmp_path: Path) -> None:
    calls: list[Json] = []

    def gone(event: Json, _context: object) -> Json:
        calls.append(event)
        raise Unavailable("gone")

    engine = Engine(2)
    for _ in range(10):
        mapping(gone, engine, tmp_path).turn(Event())
    assert len(calls) == 10
    function = Function()
    mapping(function, engine, tmp_path).turn(Event())
    assert function.taken == [1, 2]
    assert dead(tmp_path) == []


def test_only_what_was_passed_is_dropped(tmp_path: Path) -> None:
    dropped: list[int] = []

    def trim(passed: int) -> None:
        kept = json.loads((tmp_path / POSITION).read_text())["shards"]["s"]
        assert passed <= int(kept)
        dropped.append(passed)

    mapping(Function(), Engine(2_600), tmp_path, trim).turn(Event())
    assert dropped == [1_000, 2_000]


def test_it_stops_when_the_end_comes(tmp_path: Path) -> None:
    ending, function = Event(), Function()

    def end(event: Json, context: object) -> Json:
        ending.set()
        return function(event, context)

    mapping(end, Engine(2_600), tmp_path).turn(ending)
    assert function.given == list(range(1, 501))

"""Hands a table's changes to the stream function, as Lambda's own mapping does.

In order; if the function fails, again from the first record that it names; a record that keeps
failing goes to the dead letters. The position is on disk before anything is dropped, so that after
a crash it goes on where it stopped; what it then hands over twice, the function tells once.
"""

import json
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import takewhile
from threading import Event
from typing import Any

from functions.local.context import LocalContext
from functions.local.data_folder import DataFolder
from functions.local.failure import CannotServe
from functions.local.gateway import Handler
from functions.local.regular import regularly
from functions.local.shards import Record, Shards
from functions.platform.aws import create_client
from functions.platform.errors import ServiceError
from functions.platform.observability import log_unforeseen
from functions.stream.records import is_of_interest, source_of

DEAD_LETTERS = "dead-letters.jsonl"
_EVERY = 0.1  # seconds between looks for changes
_TRIES = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0  # seconds
_TRIMMED_EVERY = 1000  # records

Trim = Callable[[int], None]


def arn_of(table: str) -> str:
    """The change stream of a table.

    Raises:
        CannotServe: it has none.
    """
    description = create_client("dynamodb").describe_table(TableName=table)["Table"]
    arn = description.get("LatestStreamArn")
    if arn is None:
        raise CannotServe(f"the table {table} has no change stream; enable one with both images")
    return str(arn)


def running(
    handler: Handler, arn: str, folder: DataFolder, trim: Trim | None
) -> AbstractContextManager[None]:
    """Feeds the stream function with the changes of a table, in a thread of its own.

    Args:
        handler: the stream function.
        arn: the stream.
        folder: keeps the position, and the dead letters.
        trim: drops the records before a number; None where that isn't ours to do.
    """
    shards = Shards(create_client("dynamodbstreams"), arn, folder)
    return regularly(_EVERY, StreamMapping(handler, shards, folder, trim).turn, "stream")


def to_event(arn: str, records: list[Record]) -> dict[str, Any]:
    """The event that Lambda makes of stream records; the engine numbers them by table only."""
    origin = {"eventSourceARN": arn}
    named = ({"eventID": f"{arn}/{record['eventID']}"} for record in records)
    return {
        "Records": [record | origin | name for record, name in zip(records, named, strict=True)]
    }


class StreamMapping:
    """Works a stream off, shard by shard."""

    def __init__(
        self, handler: Handler, shards: Shards, folder: DataFolder, trim: Trim | None
    ) -> None:
        self._handler = handler
        self._shards = shards
        self._folder = folder
        self._trim = trim
        self._untrimmed = 0
        self._failures = 0  # turns in a row

    def turn(self, ending: Event) -> None:
        """Hands over all that there is, unless the end comes."""
        try:
            for shard in self._shards.readable():
                while not ending.is_set() and (records := self._shards.read(shard)):
                    self._work_off(shard, records, ending)
            self._failures = 0
        except Exception as error:  # noqa: BLE001 - the next turn may well succeed
            log_unforeseen(error)
            self._shards.restart()
            self._failures += 1
            _pause(self._failures, ending)

    def _work_off(self, shard: str, records: list[Record], ending: Event) -> None:
        tries: Counter[str] = Counter()
        while records and not ending.is_set():
            done = self._done(records)
            self._passed(shard, records[:done])
            records = records[done:]
            if not records:
                return
            stuck = records[0]
            tries[_sequence(stuck)] += 1
            if tries[_sequence(stuck)] == _TRIES:
                self._bury(stuck)
                self._passed(shard, [stuck])
                records = records[1:]
            else:
                _pause(tries[_sequence(stuck)], ending)

    def _done(self, records: list[Record]) -> int:
        """Hands records over; how many, from the first on, needn't be again.

        Where the function fails as a whole, the half in which it does is looked for.
        """
        try:
            failed = self._handed_over(records)
        except ServiceError:
            raise
        except Exception as error:  # noqa: BLE001 - the record that does it is a dead letter
            log_unforeseen(error)
            if len(records) == 1:
                return 0
            half = len(records) // 2
            done = self._done(records[:half])
            return done if done < half else half + self._done(records[half:])
        return sum(1 for _ in takewhile(lambda each: _sequence(each) not in failed, records))

    def _handed_over(self, records: list[Record]) -> set[str]:
        """Calls the function; the sequence numbers of what failed."""
        wanted = [each for each in records if is_of_interest(source_of(each).key)]
        if not wanted:
            return set()
        context = LocalContext(str(uuid.uuid4()), function_name="agent-memory-lifecycle")
        answer = self._handler(to_event(self._shards.arn, wanted), context)
        return {each["itemIdentifier"] for each in answer["batchItemFailures"]}

    def _passed(self, shard: str, records: list[Record]) -> None:
        if not records:
            return
        self._shards.passed(shard, _sequence(records[-1]))
        self._untrimmed += len(records)
        if self._trim is not None and self._untrimmed >= _TRIMMED_EVERY:
            self._trim(int(_sequence(records[-1])))
            self._untrimmed = 0

    def _bury(self, record: Record) -> None:
        """Notes where a record stood, as a dead-letter queue does, and nothing of what it held."""
        letter = {
            "stream": self._shards.arn,
            "sequence": _sequence(record),
            "event": record["eventName"],
            "keys": record["dynamodb"]["Keys"],
        }
        with (self._folder.path / DEAD_LETTERS).open("a", encoding="utf-8") as letters:
            letters.write(json.dumps(letter) + "\n")


def _sequence(record: Record) -> str:
    return source_of(record).sequence


def _pause(failures: int, ending: Event) -> None:
    ending.wait(min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE))

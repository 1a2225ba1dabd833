"""Call the stream function with a table's changes, as Lambda's event source mapping does.

Records are processed in order. If the function fails, it is called again from the first record that
it names. A record that fails repeatedly becomes a dead letter. The position is on disk before any
record is dropped, so a crash loses nothing; the function ignores records that it gets twice.
"""

import json
from itertools import takewhile
from threading import Event
from typing import Any

from functions.local.data_folder import DataFolder
from functions.local.gateway import Handler, LocalContext
from functions.local.stream_reader import Record, StreamReader
from functions.platform.errors import ServiceError
from functions.platform.observability import log_unexpected
from functions.stream.consumers import is_consumed
from functions.stream.records import parse_record

DEAD_LETTERS = "dead-letters.jsonl"
_ATTEMPTS = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0  # seconds


def to_stream_event(arn: str, records: list[Record]) -> dict[str, Any]:
    """Build Lambda's event of stream records, with event ids that are unique over all tables."""
    origin = {"eventSourceARN": arn}
    ids = ({"eventID": f"{arn}/{record['eventID']}"} for record in records)
    return {"Records": [record | origin | id_ for record, id_ in zip(records, ids, strict=True)]}


class StreamMapping:
    """Processes a stream, shard by shard."""

    def __init__(self, handler: Handler, reader: StreamReader, folder: DataFolder) -> None:
        self._handler = handler
        self._reader = reader
        self._folder = folder
        self._failures = 0  # in a row

    def run_once(self, stopping: Event) -> None:
        """Process all available records, until `stopping` is set."""
        try:
            for shard in self._reader.list_readable_shards():
                while not stopping.is_set() and (records := self._reader.read(shard)):
                    self._process(shard, records, stopping)
            self._failures = 0
        except Exception as error:  # noqa: BLE001 - the next call may succeed
            log_unexpected(error)
            self._reader.restart()
            self._failures += 1
            _back_off(self._failures, stopping)

    def _process(self, shard: str, records: list[Record], stopping: Event) -> None:
        """Process records in batches: one record after a failure, then twice as many each time."""
        size, attempts = len(records), 0
        while records and not stopping.is_set():
            batch = records[:size]
            done = self._invoke(batch)
            self._complete(shard, batch[:done])
            records = records[done:]
            if done == len(batch):
                size, attempts = 2 * size, 0
                continue
            size, attempts = 1, 1 if done else attempts + 1
            if attempts < _ATTEMPTS:
                _back_off(attempts, stopping)
                continue
            self._write_dead_letter(records[0])
            self._complete(shard, records[:1])
            records, attempts = records[1:], 0

    def _invoke(self, records: list[Record]) -> int:
        """Call the function, and return how many of the first records are processed."""
        selected = [each for each in records if is_consumed(each)]
        if not selected:
            return len(records)
        try:
            result = self._handler(to_stream_event(self._reader.arn, selected), LocalContext())
        except ServiceError:
            raise
        except Exception as error:  # noqa: BLE001 - the record that causes it becomes a dead letter
            log_unexpected(error)
            return 0
        failed = {each["itemIdentifier"] for each in result["batchItemFailures"]}
        return sum(1 for _ in takewhile(lambda each: _sequence(each) not in failed, records))

    def _complete(self, shard: str, records: list[Record]) -> None:
        if records:
            self._reader.save_position(shard, _sequence(records[-1]))

    def _write_dead_letter(self, record: Record) -> None:
        """Write a record's position and key to the dead letters, without its values."""
        letter = {
            "stream": self._reader.arn,
            "sequence": _sequence(record),
            "event": record["eventName"],
            "keys": record["dynamodb"]["Keys"],
        }
        with (self._folder.path / DEAD_LETTERS).open("a", encoding="utf-8") as letters:
            letters.write(json.dumps(letter) + "\n")


def _sequence(record: Record) -> str:
    return parse_record(record).sequence


def _back_off(failures: int, stopping: Event) -> None:
    stopping.wait(min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE))

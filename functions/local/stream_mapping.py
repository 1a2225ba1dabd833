"""Call the stream function with a table's changes, as Lambda's event source mapping does.

Records are processed in the order of each shard. If the function fails, it is called again from the
first record that it names. A record that fails repeatedly becomes a dead letter. The position is on
disk before any record is dropped, so a crash loses nothing; the function ignores records that it
gets twice.
"""

import json
import time
from itertools import takewhile
from threading import Event
from typing import Any

from functions.local.data_folder import DataFolder
from functions.local.gateway import Handler, LocalContext
from functions.local.settings import StartupError
from functions.platform.errors import ServiceError
from functions.platform.observability import log_unexpected
from functions.stream.handler import is_consumed
from functions.stream.records import parse_record

POSITION = "stream-position.json"
Record = dict[str, Any]
DEAD_LETTERS = "dead-letters.jsonl"
ATTEMPTS, ATTEMPTS_OF_A_DAY = 5, 17_280  # the pauses become five seconds long
_LIST_SECONDS = 10.0  # between two lists of the shards
_PAGE = 1_000  # records; as many as a call may return
_ENDED = "end"  # the position of a shard that has been read to its end
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0  # seconds


def find_stream(dynamodb: Any, table: str) -> str:
    """Return the ARN of a table's change stream."""
    description = dynamodb.describe_table(TableName=table)["Table"]
    arn = description.get("LatestStreamArn")
    if arn is None:
        raise StartupError(f"the table {table} has no change stream; enable one with both images")
    return str(arn)


class StreamReader:
    """Reads a stream's records in the order of each shard, a parent before its children."""

    def __init__(
        self, streams: Any, arn: str, folder: DataFolder, position: str = POSITION
    ) -> None:
        """`position` names the file with the positions."""
        self._streams = streams
        self._folder = folder
        self._file = position
        self._iterators: dict[str, str] = {}
        self._parents: dict[str, str | None] = {}
        self._listed: float | None = None
        self._positions = _load_positions(folder, arn, position)
        self.arn = arn

    @property
    def processed(self) -> int:
        """The sequence number up to which a shard is processed, the highest of all; 0 at first."""
        return max((int(each) for each in self._positions.values() if each != _ENDED), default=0)

    def list_readable_shards(self) -> list[str]:
        """Return the shards that have unread records and no parent with unread records."""
        now = time.monotonic()
        if self._listed is None or now - self._listed > _LIST_SECONDS:
            self._parents, self._listed = self._list_shards(), now
        unread = [s for s in self._parents if self._positions.get(s) != _ENDED]
        return [shard for shard in unread if self._parents[shard] not in unread]

    def _list_shards(self) -> dict[str, str | None]:
        """Return the shards, each with its parent."""
        parents: dict[str, str | None] = {}
        request = {"StreamArn": self.arn}
        while True:
            page = self._streams.describe_stream(**request)["StreamDescription"]
            parents |= {each["ShardId"]: each.get("ParentShardId") for each in page["Shards"]}
            if "LastEvaluatedShardId" not in page:
                return parents
            request["ExclusiveStartShardId"] = page["LastEvaluatedShardId"]

    def read(self, shard: str) -> list[Record]:
        """Return the next records; an empty list if there are none yet."""
        iterator = self._iterators.pop(shard, None) or self._start_iterator(shard)
        page = self._streams.get_records(ShardIterator=iterator, Limit=_PAGE)
        following, records = page.get("NextShardIterator"), page["Records"]
        if following is not None:
            self._iterators[shard] = following
        elif not records:
            self.save_position(shard, _ENDED)
            self._listed = None
        return list(records)

    def _start_iterator(self, shard: str) -> str:
        request = {"StreamArn": self.arn, "ShardId": shard}
        position = self._positions.get(shard)
        if position is not None:
            after = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": position}
            try:
                return str(self._streams.get_shard_iterator(**request, **after)["ShardIterator"])
            except self._streams.exceptions.TrimmedDataAccessException:
                pass
        oldest = self._streams.get_shard_iterator(**request, ShardIteratorType="TRIM_HORIZON")
        return str(oldest["ShardIterator"])

    def save_position(self, shard: str, sequence: str) -> None:
        """Store on disk that a shard is processed up to this sequence number."""
        self._positions[shard] = sequence
        self._folder.write(self._file, json.dumps({"stream": self.arn, "shards": self._positions}))

    def restart(self) -> None:
        """Continue from the saved positions, after a failure."""
        self._iterators.clear()
        self._listed = None


def _load_positions(folder: DataFolder, arn: str, file: str) -> dict[str, str]:
    """Return the saved positions, or none if they belong to an earlier stream."""
    text = folder.read(file)
    if text is None:
        return {}
    saved = json.loads(text)
    positions: dict[str, str] = saved["shards"] if saved["stream"] == arn else {}
    return positions


def to_stream_event(arn: str, records: list[Record]) -> dict[str, Any]:
    """Build Lambda's event of stream records, with event ids that are unique over all tables."""
    origin = {"eventSourceARN": arn}
    ids = ({"eventID": f"{arn}/{record['eventID']}"} for record in records)
    return {"Records": [record | origin | id_ for record, id_ in zip(records, ids, strict=True)]}


class StreamMapping:
    """Processes a stream, shard by shard.

    Args:
        attempts: how often the function is called for a record that fails.
    """

    def __init__(
        self,
        handler: Handler,
        reader: StreamReader,
        folder: DataFolder,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._attempts = attempts
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
            if attempts < self._attempts:
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
    stopping.wait(min(_FIRST_PAUSE * 2 ** min(failures, 10), _LONGEST_PAUSE))

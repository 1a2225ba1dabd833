"""Read a table's change stream shard by shard, and keep the position in each on disk."""

import json
import time
from typing import Any

from functions.local.data_folder import DataFolder
from functions.local.settings import StartupError

POSITION = "stream-position.json"
Record = dict[str, Any]

_LIST_SECONDS = 10.0  # between two lists of the shards
_PAGE = 1_000  # records; as many as a call may return
_ENDED = "end"  # the position of a shard that has been read to its end


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
        """The highest sequence number up to which a shard is processed; 0 before the first."""
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

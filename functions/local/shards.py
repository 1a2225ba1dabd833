"""A table's change stream: its shards, and how far each has been worked off."""

import json
import time
from typing import Any

from functions.local.data_folder import DataFolder

POSITION = "stream-position.json"
Record = dict[str, Any]

_RELISTED_EVERY = 10.0  # seconds
_AT_ONCE = 500  # records
_ENDED = "end"  # the position of a shard that has been read to its end


class Shards:
    """Reads a stream's records in the order of each shard, a parent before its children."""

    def __init__(self, client: Any, arn: str, folder: DataFolder) -> None:
        self._client = client
        self._folder = folder
        self._iterators: dict[str, str] = {}
        self._parents: dict[str, str | None] = {}
        self._listed: float | None = None
        self._positions = _kept(folder, arn)
        self.arn = arn

    def readable(self) -> list[str]:
        """The shards that aren't read to their end, and whose parents are."""
        now = time.monotonic()
        if self._listed is None or now - self._listed > _RELISTED_EVERY:
            self._parents, self._listed = self._list(), now
        open_ones = [s for s in self._parents if self._positions.get(s) != _ENDED]
        return [shard for shard in open_ones if self._parents[shard] not in open_ones]

    def _list(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        request = {"StreamArn": self.arn}
        while True:
            answer = self._client.describe_stream(**request)["StreamDescription"]
            found |= {each["ShardId"]: each.get("ParentShardId") for each in answer["Shards"]}
            if "LastEvaluatedShardId" not in answer:
                return found
            request["ExclusiveStartShardId"] = answer["LastEvaluatedShardId"]

    def read(self, shard: str) -> list[Record]:
        """The next records; none if there is nothing more for now."""
        if shard not in self._iterators:
            self._iterators[shard] = self._iterator(shard)
        iterator = self._iterators.pop(shard)
        answer = self._client.get_records(ShardIterator=iterator, Limit=_AT_ONCE)
        following, records = answer.get("NextShardIterator"), answer["Records"]
        if following is not None:
            self._iterators[shard] = following
        elif not records:
            self.passed(shard, _ENDED)
            self._listed = None
        return list(records)

    def _iterator(self, shard: str) -> str:
        request = {"StreamArn": self.arn, "ShardId": shard}
        position = self._positions.get(shard)
        if position is not None:
            request |= {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": position,
            }
            try:
                return str(self._client.get_shard_iterator(**request)["ShardIterator"])
            except self._client.exceptions.TrimmedDataAccessException:
                del request["SequenceNumber"]
        request["ShardIteratorType"] = "TRIM_HORIZON"
        return str(self._client.get_shard_iterator(**request)["ShardIterator"])

    def passed(self, shard: str, sequence: str) -> None:
        """Keeps, on disk, that a shard has been worked off up to this record."""
        self._positions[shard] = sequence
        self._folder.keep(POSITION, json.dumps({"stream": self.arn, "shards": self._positions}))

    def restart(self) -> None:
        """Reads on from the kept positions, after something went wrong."""
        self._iterators.clear()
        self._listed = None


def _kept(folder: DataFolder, arn: str) -> dict[str, str]:
    """The kept positions; those in a stream that has been replaced since mean nothing."""
    text = folder.kept(POSITION)
    if text is None:
        return {}
    kept = json.loads(text)
    positions: dict[str, str] = kept["shards"] if kept["stream"] == arn else {}
    return positions

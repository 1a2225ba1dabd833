"""Read a complete batch of a DynamoDB stream again."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

_GONE = ("ResourceNotFoundException", "TrimmedDataAccessException")
_MAX_EMPTY_PAGES = 10_000  # a page covers up to 1 MB of the shard, which holds a day


class NotReplayed(Exception):
    """A letter remains in its queue; the message has the reason."""


def read_batch(streams: Any, batch: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the records of a batch, from its first to its last sequence number.

    Args:
        streams: a client of DynamoDB Streams.
        batch: the `DDBStreamBatchInfo` of a dead letter.

    Raises:
        NotReplayed: the stream no longer has all of the records.
    """
    first, last = int(batch["startSequenceNumber"]), int(batch["endSequenceNumber"])
    records = []
    try:
        for record in _read_from(streams, batch):
            if get_number(record) > last:
                break
            records.append(_render_as_delivered(record, batch["streamArn"]))
            if get_number(record) == last:
                break
    except ClientError as error:
        if error.response["Error"]["Code"] in _GONE:
            raise NotReplayed(
                "the stream keeps records for a day, and no longer has these"
            ) from None
        raise
    found = [get_number(record) for record in records]
    if not found or (found[0], found[-1]) != (first, last):
        raise NotReplayed(
            f"the stream has {len(found)} records of this batch, but not its first or last"
        )
    return records


def get_number(record: dict[str, Any]) -> int:
    """Return the sequence number of a record."""
    return int(record["dynamodb"]["SequenceNumber"])


def _read_from(streams: Any, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Read a shard from the batch's first record on.

    A page can be empty although records follow. The shard ends only if there is no next iterator.
    """
    iterator = streams.get_shard_iterator(
        StreamArn=batch["streamArn"],
        ShardId=batch["shardId"],
        ShardIteratorType="AT_SEQUENCE_NUMBER",
        SequenceNumber=batch["startSequenceNumber"],
    )["ShardIterator"]
    empty = 0
    while iterator is not None and empty < _MAX_EMPTY_PAGES:
        page = streams.get_records(ShardIterator=iterator)
        yield from page["Records"]
        empty = 0 if page["Records"] else empty + 1
        iterator = page.get("NextShardIterator")


def _render_as_delivered(record: dict[str, Any], arn: str) -> dict[str, Any]:
    """Render a record as Lambda delivers it: bytes in base64, times in seconds."""
    plain: dict[str, Any] = json.loads(json.dumps(record, default=_to_plain))
    return plain | {"eventSourceARN": arn}


def _to_plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()

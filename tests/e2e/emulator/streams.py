"""Streams of DynamoDB, by what AWS allows itself: each page of records follows an empty one, and
batches are delivered twice; event source mappings with retries, bisection and partial failures.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ministack.core import responses
from ministack.services import dynamodb, dynamodb_streams, lambda_svc

Json = dict[str, Any]

_PAUSE_SECONDS = 0.05  # before a batch is delivered again; Lambda takes longer
_TWICE = 3  # one batch in three is delivered twice
_AGING = 3600  # a record grows an hour old in a second, so that its age ends its retries in a test


@dataclass
class _Batch:
    """Records from `start` to before `end`, and how often they were delivered."""

    start: int
    end: int
    deliveries: int = 0

    def halves(self) -> list["_Batch"]:
        middle = (self.start + self.end) // 2
        return [_Batch(self.start, middle), _Batch(middle, self.end)]


@dataclass
class _Reader:
    """The position of one mapping, and the batches in progress, oldest first."""

    position: int
    batches: list[_Batch] = field(default_factory=list)
    delivered: int = 0

    def next_batch(self, end: int, size: int) -> _Batch | None:
        if not self.batches and self.position < end:
            self.batches.append(_Batch(self.position, min(end, self.position + size)))
        return self.batches[0] if self.batches else None

    def done(self) -> None:
        self.position = self.batches.pop(0).end
        self.delivered += 1


_readers: dict[str, _Reader] = {}
_begun: set[str] = set()  # iterators that have had their empty page
_get_records = dynamodb_streams._get_records


def _get_records_behind_an_empty_page(data: Json) -> Any:
    iterator = data.get("ShardIterator")
    if not iterator or iterator in _begun:
        return _get_records(data)
    _begun.add(iterator)
    return responses.json_response({"Records": [], "NextShardIterator": iterator})


def _mappings() -> Iterator[tuple[Json, str, str]]:
    """Each enabled mapping of a stream that is there, within its account and region."""
    for account, region, mapping in list(lambda_svc._iter_all_esms()):
        arn = mapping.get("EventSourceArn", "")
        if ":dynamodb:" not in arn or not mapping.get("Enabled", True):
            continue
        name = arn.partition(":table/")[2].partition("/stream/")[0]
        with responses.request_scope(account, region):
            table = dynamodb._tables.get(name)
            if table and table.get("LatestStreamArn") == arn:
                yield mapping, arn, name


def _reader(mapping: Json, table: str) -> _Reader:
    if mapping["UUID"] not in _readers:
        from_start = mapping.get("StartingPosition") == "TRIM_HORIZON"
        begin = dynamodb.stream_start_position if from_start else dynamodb.stream_end_position
        _readers[mapping["UUID"]] = _Reader(begin(table))
    return _readers[mapping["UUID"]]


def _poll() -> bool:
    """Deliver one batch of each mapping; whether there was any."""
    delivered = [_deliver_next(*found) for found in _mappings()]
    return any(delivered)


def _deliver_next(mapping: Json, arn: str, table: str) -> bool:
    function, _ = lambda_svc._get_func_record_for_qualifier(
        mapping["FunctionName"], mapping.get("Qualifier")
    )
    reader = _reader(mapping, table)
    size = int(mapping.get("BatchSize", 100))
    batch = reader.next_batch(dynamodb.stream_end_position(table), size)
    if function is None or batch is None:
        return False
    records = dynamodb.stream_records_since(table, batch.start, batch.end - batch.start)
    wanted = lambda_svc._apply_filter_criteria(records, mapping)
    result = lambda_svc._execute_function(function, {"Records": wanted}) if wanted else {}
    failed = _first_failed(mapping, result, records)
    if failed is None:
        if wanted and reader.delivered % _TWICE == 0:
            lambda_svc._execute_function(function, {"Records": wanted})
        reader.done()
    else:
        batch.start += failed  # what stands before it is done
        _retry(mapping, reader, batch, records[failed:], (function, arn, result))
    return True


def _retry(
    mapping: Json, reader: _Reader, batch: _Batch, left: list[Json], told: tuple[Json, str, Json]
) -> None:
    """Have a batch delivered again, in halves if there are any, or gives it up."""
    time.sleep(_PAUSE_SECONDS)
    batch.deliveries += 1
    if mapping.get("BisectBatchOnFunctionError") and len(left) > 1:
        reader.batches[:1] = batch.halves()
    elif reason := _reason_to_give_up(mapping, batch, left[0]):
        function, arn, result = told
        wanted = lambda_svc._apply_filter_criteria(left, mapping)
        lambda_svc._send_ddb_stream_failure_record(mapping, function, wanted, arn, result, reason)
        reader.done()


def _first_failed(mapping: Json, result: Json, records: list[Json]) -> int | None:
    """The place of the first record that is to be delivered again."""
    if result.get("error"):
        return 0
    if "ReportBatchItemFailures" not in (mapping.get("FunctionResponseTypes") or []):
        return None
    answer = result.get("body")
    failures = answer.get("batchItemFailures") if isinstance(answer, dict) else None
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    named = [failure.get("itemIdentifier") for failure in failures or []]
    return min((numbers.index(each) if each in numbers else 0 for each in named), default=None)


def _reason_to_give_up(mapping: Json, batch: _Batch, oldest: Json) -> str | None:
    retries = int(mapping.get("MaximumRetryAttempts", -1))
    seconds = int(mapping.get("MaximumRecordAgeInSeconds", -1) or -1)
    if 0 <= retries < batch.deliveries:
        return "RetryAttemptsExhausted"
    now = time.time()  # noqa: TID251 - the emulator's time is this machine's
    age = now - float(oldest["dynamodb"]["ApproximateCreationDateTime"])
    return "MaxRecordAgeExceeded" if 0 < seconds < age * _AGING else None


def mend() -> None:
    """The emulator delivers a failed batch for ever, and looks at none of the mapping's limits."""
    lambda_svc._poll_dynamodb_streams = _poll
    dynamodb_streams._get_records = _get_records_behind_an_empty_page

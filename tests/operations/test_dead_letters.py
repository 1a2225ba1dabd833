"""Dead letters are replayed whole, and a letter that was not delivered is never deleted."""

import json
from collections.abc import Iterator
from threading import Barrier, Lock
from typing import Any

import pytest
from botocore.exceptions import ClientError

from operations.dead_letters import NotReplayed, build_event, process_letters, split_event

ARN = "arn:aws:dynamodb:eu-central-1:1:table/memory/stream/x"


class Shard:
    """A shard of a stream that does always what AWS does sometimes.

    Each page with records comes behind an empty one and has two records. Records before `trimmed`
    are gone. An error may come with any call.
    """

    def __init__(
        self, *numbers: int, trimmed: int = 0, is_open: bool = True, errors: str = ""
    ) -> None:
        self.numbers = numbers
        self.trimmed = trimmed
        self.is_open = is_open
        self.errors = errors

    def get_shard_iterator(self, *, SequenceNumber: str, **_: str) -> dict[str, str]:  # noqa: N803
        """Return an iterator that begins with an empty page."""
        if self.errors == "ResourceNotFoundException":
            raise ClientError({"Error": {"Code": self.errors}}, "GetShardIterator")
        if int(SequenceNumber) < self.trimmed:
            code = "TrimmedDataAccessException"
            raise ClientError({"Error": {"Code": code}}, "GetShardIterator")
        return {"ShardIterator": f"empty {SequenceNumber}"}

    def get_records(self, *, ShardIterator: str) -> dict[str, Any]:  # noqa: N803
        """Return an empty page and one with two records in turn."""
        if self.errors == "late":
            raise ClientError({"Error": {"Code": "TrimmedDataAccessException"}}, "GetRecords")
        kind, _, first = ShardIterator.partition(" ")
        if kind == "empty":
            return {"Records": [], "NextShardIterator": f"full {first}"}
        page = [number for number in self.numbers if number >= int(first)][:2]
        following = page[-1] + 1 if page else int(first)
        has_more = self.is_open or following <= max(self.numbers)
        end = {"NextShardIterator": f"empty {following}"} if has_more else {}
        return {"Records": list(map(render_record, page)), **end}


def render_record(number: int) -> dict[str, Any]:
    """Render a record as a client of DynamoDB Streams returns it."""
    image = {"blob": {"B": b"\x00\xff"}}
    return {
        "eventName": "INSERT",
        "dynamodb": {"SequenceNumber": str(number), "NewImage": image},
    }


def render_letter(first: int, last: int) -> dict[str, Any]:
    """Render what Lambda puts into the queue for a batch that failed for the last time."""
    batch = {
        "shardId": "shardId-1",
        "startSequenceNumber": str(first),
        "endSequenceNumber": str(last),
        "batchSize": 3,
        "streamArn": ARN,
    }
    return {"version": "1.0", "DDBStreamBatchInfo": batch}


def list_numbers(event: dict[str, Any]) -> list[str]:
    """List the sequence numbers of an event's records."""
    return [each["dynamodb"]["SequenceNumber"] for each in event["Records"]]


def test_a_batch_is_read_whole_behind_empty_pages() -> None:
    event = build_event(render_letter(100, 300), Shard(100, 200, 300, 400))
    assert list_numbers(event) == ["100", "200", "300"]
    assert event["Records"][0]["dynamodb"]["NewImage"] == {"blob": {"B": "AP8="}}
    assert event["Records"][0]["eventSourceARN"] == ARN


@pytest.mark.parametrize(
    "shard",
    [
        Shard(errors="ResourceNotFoundException"),
        Shard(100, 200, 300, trimmed=150),
        Shard(100, 200, 300, errors="late"),
        Shard(200, 300, is_open=False),  # its first record is missing
        Shard(100, 200, is_open=False),  # its last record is missing
        Shard(100, 200, 400),
    ],
    ids=["gone", "trimmed", "trimmed late", "no first", "no last", "a gap at the end"],
)
def test_a_batch_that_is_not_whole_is_not_replayed(shard: Shard) -> None:
    with pytest.raises(NotReplayed):
        build_event(render_letter(100, 300), shard)


def test_an_event_of_another_system_is_replayed_as_it_came() -> None:
    event = {"id": "e1", "detail": {"task_id": "t"}}
    letter = {"requestContext": {"condition": "RetriesExhausted"}, "requestPayload": event}
    assert build_event(letter, Shard()) == event
    assert build_event({"time": "now"}, Shard()) == {"time": "now"}


def test_a_large_batch_is_split_into_invocations() -> None:
    records = [{"n": number, "text": "ü" * 1_000_000} for number in range(5)]
    parts = list(split_event({"Records": records}))
    assert [each["n"] for part in parts for each in part["Records"]] == [0, 1, 2, 3, 4]
    assert max(len(json.dumps(part, ensure_ascii=False).encode()) for part in parts) < 6_000_000
    assert len(parts) == 3


class Queue:
    """An SQS queue: letters by their bodies, hidden once received."""

    def __init__(self, *bodies: str) -> None:
        self.letters = dict(enumerate(bodies))
        self.hidden: set[int] = set()
        self._lock = Lock()

    def get_queue_attributes(self, **_: object) -> dict[str, Any]:
        """Return how many letters are hidden."""
        return {"Attributes": {"ApproximateNumberOfMessagesNotVisible": str(len(self.hidden))}}

    def receive_message(self, *, MaxNumberOfMessages: int, **_: object) -> dict[str, Any]:  # noqa: N803
        """Receive letters that are not hidden."""
        with self._lock:
            visible = [each for each in self.letters if each not in self.hidden]
            numbers = visible[:MaxNumberOfMessages]
            self.hidden.update(numbers)
        return {"Messages": list(map(self._render, numbers))} if numbers else {}

    def _render(self, number: int) -> dict[str, str]:
        body = self.letters[number]
        return {"Body": body, "MessageId": f"m{number}", "ReceiptHandle": str(number)}

    def delete_message(self, *, ReceiptHandle: str, **_: object) -> None:  # noqa: N803
        with self._lock:
            del self.letters[int(ReceiptHandle)]
            self.hidden.remove(int(ReceiptHandle))

    def change_message_visibility(self, *, ReceiptHandle: str, **_: object) -> None:  # noqa: N803
        self.hidden.remove(int(ReceiptHandle))


@pytest.mark.parametrize(
    "error", [NotReplayed("it fails again"), KeyError("unexpected")], ids=["refused", "unexpected"]
)
def test_a_letter_that_fails_stays_visible_and_the_others_are_delivered(error: Exception) -> None:
    queue = Queue('{"time": "1"}', '{"time": "poison"}', '{"time": "3"}')
    delivered: list[str] = []

    def deliver(body: dict[str, Any]) -> None:
        if body["time"] == "poison":
            raise error
        delivered.append(body["time"])

    for replayed in (2, 0):
        report = process_letters(queue, "url", deliver)
        assert report["replayed"] == replayed
        assert [each["id"] for each in report["left"]] == ["m1"]
        assert report["hidden"] == 0
    assert sorted(delivered) == ["1", "3"]
    assert (list(queue.letters), queue.hidden) == ([1], set())


def test_a_lost_shard_keeps_its_letter_and_the_others_are_delivered() -> None:
    shards: Iterator[Shard] = iter([Shard(errors="ResourceNotFoundException"), Shard(100, 300)])
    queue = Queue(*[json.dumps(render_letter(100, 300))] * 2)
    report = process_letters(queue, "url", lambda body: void(build_event(body, next(shards))))
    assert (report["replayed"], len(report["left"]), len(queue.letters)) == (1, 1, 1)
    assert "a day" in report["left"][0]["reason"]


def void(_: object) -> None:
    """Return nothing, as a delivery does."""


def test_letters_are_delivered_side_by_side() -> None:
    together = Barrier(20)  # is passed only by 20 deliveries at the same time
    queue = Queue(*['{"time": "now"}'] * 40)
    report = process_letters(queue, "url", lambda _: void(together.wait(timeout=30)))
    assert (report["replayed"], report["left"]) == (40, [])

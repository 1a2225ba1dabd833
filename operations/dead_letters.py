"""What was given up, tried again: batches of the change stream, and runs of the schedule.

The logs take each event once, so a batch may be replayed any number of times.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, TypedDict

from operations.deployment import Deployment, client

_FUNCTIONS = {
    "StreamDeadLetters": "Stream",
    "EmbeddingDeadLetters": "Embedding",  # where a model of Bedrock's embeds
    "ScheduleDeadLetters": "Schedule",
    "TaskEventDeadLetters": "TaskEvents",  # where the deployment takes other systems' events
}
_HIDDEN = "ApproximateNumberOfMessagesNotVisible"
_HIDDEN_SECONDS = 3600


class NotReplayed(Exception):
    """A letter stays in its queue; the message says why."""


class QueueReport(TypedDict):
    """What became of the letters of a queue.

    Attributes:
        replayed: how many went through, and are gone.
        left: the letters that stay, each with the reason.
        hidden: how many another reader had taken when this began: they come back within minutes.
    """

    replayed: int
    left: list[dict[str, Any]]
    hidden: int


def replay(deployment: Deployment, *, is_listing: bool = False) -> dict[str, QueueReport]:
    """Try all letters of the deployment's queues again, or only list them.

    One that fails again stays, and the others continue.
    """
    there = {name: function for name, function in _FUNCTIONS.items() if name in deployment.outputs}
    reports = {}
    for name, function in there.items():
        physical, streams = deployment.alias_of(function), client("dynamodbstreams")

        def deliver(body: dict[str, Any], physical: str = physical, streams: Any = streams) -> None:
            if is_listing:
                raise NotReplayed("listed")
            _invoke(physical, event_of(body, streams))

        reports[name] = process_letters(client("sqs"), deployment.outputs[name], deliver)
    return reports


def process_letters(sqs: Any, queue: str, deliver: Callable[[dict[str, Any]], None]) -> QueueReport:
    """Deliver each letter of a queue once; what isn't taken stays, and can be received at once."""
    attributes = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[_HIDDEN])["Attributes"]
    report = QueueReport(replayed=0, left=[], hidden=int(attributes[_HIDDEN]))
    kept: list[str] = []
    for letter in _receive(sqs, queue):
        try:
            deliver(json.loads(letter["Body"]))
        except NotReplayed as error:
            report["left"].append(_describe(letter, error))
            kept.append(letter["ReceiptHandle"])
        else:
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=letter["ReceiptHandle"])
            report["replayed"] += 1
    for handle in kept:
        sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=handle, VisibilityTimeout=0)
    return report


def _receive(sqs: Any, queue: str) -> Iterator[dict[str, Any]]:
    """Receive each letter once; it stays hidden until all have been processed."""
    while True:
        answer = sqs.receive_message(
            QueueUrl=queue,
            MaxNumberOfMessages=1,
            VisibilityTimeout=_HIDDEN_SECONDS,
            WaitTimeSeconds=1,
            AttributeNames=["SentTimestamp"],
        )
        if not answer.get("Messages"):
            return
        yield from answer["Messages"]


def _describe(letter: dict[str, Any], error: NotReplayed) -> dict[str, Any]:
    """Describe a letter by what it is about, without its data."""
    batch = json.loads(letter["Body"]).get("DDBStreamBatchInfo", {})
    about = {name: batch[name] for name in ("shardId", "batchSize") if name in batch}
    sent = letter.get("Attributes", {}).get("SentTimestamp")
    return {"id": letter["MessageId"], "sent_ms": sent, **about, "reason": str(error)}


def event_of(body: dict[str, Any], streams: Any) -> dict[str, Any]:
    """Rebuild the event of a dead letter; the records of a batch are read from the stream again.

    Raises:
        NotReplayed: the stream no longer has them: it keeps a day.
    """
    if "DDBStreamBatchInfo" in body:
        return {"Records": list(_records(streams, body["DDBStreamBatchInfo"]))}
    refused: dict[str, Any] = body.get("requestPayload", body)
    return refused


def _records(streams: Any, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    arn, shard = batch["streamArn"], batch["shardId"]
    first, last = int(batch["startSequenceNumber"]), int(batch["endSequenceNumber"])
    try:
        iterator = streams.get_shard_iterator(
            StreamArn=arn,
            ShardId=shard,
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=batch["startSequenceNumber"],
        )["ShardIterator"]
    except streams.exceptions.TrimmedDataAccessException as error:
        raise NotReplayed("the stream no longer has these records: it keeps a day") from error
    while iterator is not None:
        answer = streams.get_records(ShardIterator=iterator)
        for record in answer["Records"]:
            if first <= int(record["dynamodb"]["SequenceNumber"]) <= last:
                yield _as_delivered(record, arn)
        past = [int(each["dynamodb"]["SequenceNumber"]) >= last for each in answer["Records"]]
        if any(past) or not answer["Records"]:
            return
        iterator = answer.get("NextShardIterator")


def _as_delivered(record: dict[str, Any], arn: str) -> dict[str, Any]:
    """Render a record as Lambda delivers it: bytes in base64, times in seconds."""
    plain: dict[str, Any] = json.loads(json.dumps(record, default=_plain))
    return plain | {"eventSourceARN": arn}


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()


def _invoke(function: str, event: dict[str, Any]) -> None:
    answer = client("lambda").invoke(FunctionName=function, Payload=json.dumps(event).encode())
    response = json.loads(answer["Payload"].read() or b"null")
    if "FunctionError" in answer or (response or {}).get("batchItemFailures"):
        raise NotReplayed(f"{function} fails at it again; its log says why")

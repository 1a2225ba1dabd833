"""What was given up, tried again: batches of the change stream, and runs of the schedule.

The logs take each event once, so a batch may be replayed any number of times.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

from operations.deployment import Deployment, client

_FUNCTIONS = {
    "StreamDeadLetters": "Stream",
    "EmbeddingDeadLetters": "Embedding",  # where a model of Bedrock's embeds
    "ScheduleDeadLetters": "Schedule",
    "TaskEventDeadLetters": "TaskEvents",  # where the deployment takes other systems' events
}


class NotReplayed(Exception):
    """A letter stays in its queue; the message says why."""


def replay(deployment: Deployment) -> dict[str, int]:
    """Try all letters of the deployment's queues again; how many of each queue went through.

    Raises:
        NotReplayed: one did not; it and those after it stay where they are.
    """
    there = {name: function for name, function in _FUNCTIONS.items() if name in deployment.outputs}
    return {name: _replay(deployment, name, function) for name, function in there.items()}


def _replay(deployment: Deployment, name: str, function: str) -> int:
    sqs, queue = client("sqs"), deployment.outputs[name]
    done = 0
    for letter in _letters(sqs, queue):
        body = json.loads(letter["Body"])
        _invoke(deployment.function(function), event_of(body, client("dynamodbstreams")))
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=letter["ReceiptHandle"])
        done += 1
    return done


def _letters(sqs: Any, queue: str) -> Iterator[dict[str, Any]]:
    while True:
        answer = sqs.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=1, VisibilityTimeout=120, WaitTimeSeconds=1
        )
        if not answer.get("Messages"):
            return
        yield from answer["Messages"]


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

"""Replay dead letters: batches of the change stream, and failed runs of other functions.

A log stores each event once, so a batch can be replayed any number of times.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

from botocore.config import Config

from operations.deployment import Deployment, client
from operations.stream_batches import NotReplayed, read_batch

__all__ = ["QUEUES", "NotReplayed", "QueueReport", "build_event", "process_letters", "replay"]

QUEUES = {
    "StreamDeadLetters": "Stream",
    "EmbeddingDeadLetters": "Embedding",  # exists only if a Bedrock model embeds
    "LearningDeadLetters": "Learning",  # exists only if a language model learns
    "ScheduleDeadLetters": "Schedule",
    "TaskEventDeadLetters": "TaskEvents",  # exists only if external task events are on
}
_HIDDEN = "ApproximateNumberOfMessagesNotVisible"
_HIDDEN_SECONDS = 3600
_LETTERS_AT_ONCE = 10  # the maximum that SQS returns in one call
_THREADS = 32  # a letter takes four sequential calls of 10 to 100 ms
_MAX_PAYLOAD = 5_000_000  # bytes; Lambda accepts 6 MB

Letter = dict[str, Any]


class QueueReport(TypedDict):
    """The result of replaying a queue.

    Attributes:
        replayed: the number of letters that were delivered and deleted.
        left: the letters that remain in the queue, each with the reason.
        hidden: the number of letters that another reader holds; they reappear within an hour.
    """

    replayed: int
    left: list[dict[str, Any]]
    hidden: int


def replay(deployment: Deployment, *, is_listing: bool = False) -> dict[str, QueueReport]:
    """Deliver all letters of the deployment's queues again, or list them.

    A letter that fails again remains in its queue. The others continue.
    """
    connections = Config(max_pool_connections=_THREADS)
    streams, functions = client("dynamodbstreams", connections), client("lambda", connections)
    reports = {}
    for queue, function in QUEUES.items():
        if queue not in deployment.outputs:
            continue
        alias = deployment.alias_of(function)

        def deliver(body: dict[str, Any], alias: str = alias) -> None:
            if is_listing:
                raise NotReplayed("listed")
            for event in split_event(build_event(body, streams)):
                _invoke(functions, alias, event)

        sqs = client("sqs", connections)
        reports[queue] = process_letters(sqs, deployment.outputs[queue], deliver)
    return reports


def process_letters(sqs: Any, queue: str, deliver: Callable[[dict[str, Any]], None]) -> QueueReport:
    """Deliver each letter of a queue once, several in parallel.

    Each letter is deleted after its delivery. All others become visible again at the end.
    """
    attributes = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[_HIDDEN])["Attributes"]
    report = QueueReport(replayed=0, left=[], hidden=int(attributes[_HIDDEN]))
    kept: set[str] = set()

    def process(letter: Letter) -> Exception | None:
        try:
            deliver(json.loads(letter["Body"]))
        except Exception as error:  # noqa: BLE001 - whatever fails, the other letters continue
            return error
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=letter["ReceiptHandle"])
        return None

    try:
        with ThreadPoolExecutor(_THREADS) as threads:
            for letters in _receive(sqs, queue):
                kept.update(letter["ReceiptHandle"] for letter in letters)
                for letter, error in zip(letters, threads.map(process, letters), strict=True):
                    if error is None:
                        kept.remove(letter["ReceiptHandle"])
                        report["replayed"] += 1
                    else:
                        report["left"].append(_describe(letter, error))
    finally:
        for handle in kept:
            sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=handle, VisibilityTimeout=0)
    return report


def _receive(sqs: Any, queue: str) -> Iterator[list[Letter]]:
    """Receive all letters in groups; each is hidden until all are processed."""
    while True:
        letters: list[Letter] = []
        while len(letters) < _THREADS:
            answer = sqs.receive_message(
                QueueUrl=queue,
                MaxNumberOfMessages=_LETTERS_AT_ONCE,
                VisibilityTimeout=_HIDDEN_SECONDS,
                WaitTimeSeconds=0 if letters else 1,
                AttributeNames=["SentTimestamp"],
            )
            if not answer.get("Messages"):
                break
            letters += answer["Messages"]
        if not letters:
            return
        yield letters


def _describe(letter: Letter, error: Exception) -> dict[str, Any]:
    """Describe a letter without its data."""
    batch = json.loads(letter["Body"]).get("DDBStreamBatchInfo", {})
    about = {name: batch[name] for name in ("shardId", "batchSize") if name in batch}
    sent = letter.get("Attributes", {}).get("SentTimestamp")
    return {"id": letter["MessageId"], "sent_ms": sent, **about, "reason": str(error)}


def build_event(body: dict[str, Any], streams: Any) -> dict[str, Any]:
    """Rebuild the event of a dead letter, and read the records of a batch from the stream again.

    Raises:
        NotReplayed: the stream no longer has all of the records.
    """
    if "DDBStreamBatchInfo" in body:
        return {"Records": read_batch(streams, body["DDBStreamBatchInfo"])}
    refused: dict[str, Any] = body.get("requestPayload", body)
    return refused


def split_event(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a batch of the stream into events that fit into one invocation."""
    if "Records" not in event:
        yield event
        return
    part: list[Any] = []
    size = 0
    for record in event["Records"]:
        length = len(_encode(record))
        if part and size + length > _MAX_PAYLOAD:
            yield {"Records": part}
            part, size = [], 0
        part.append(record)
        size += length
    yield {"Records": part}


def _encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _invoke(functions: Any, function: str, event: dict[str, Any]) -> None:
    answer = functions.invoke(FunctionName=function, Payload=_encode(event))
    response = json.loads(answer["Payload"].read() or b"null")
    if "FunctionError" in answer or (response or {}).get("batchItemFailures"):
        raise NotReplayed(f"{function} failed again; read its log for the reason")

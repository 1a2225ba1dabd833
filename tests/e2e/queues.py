"""Queues, as their owner reads them."""

from typing import Any

_MOST = 10  # messages of one call


def taken(sqs: Any, queue_url: str) -> list[str]:
    """The bodies of all messages that are there; they are there no longer."""
    bodies: list[str] = []
    while True:
        answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=_MOST)
        messages = answer.get("Messages", [])
        for message in messages:
            bodies.append(message["Body"])
            sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        if not messages:
            return bodies

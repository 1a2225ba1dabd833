"""The stream function: takes a batch of DynamoDB stream records, gives those that failed."""

from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.stream.consumers import CONSUMERS
from functions.stream.records import StreamBatch

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


def build_handler(container: Container) -> Handler:
    """Build the stream function, with all its consumers."""
    consumers = [each.build(container) for each in CONSUMERS]

    def handle(event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        batch = StreamBatch(event["Records"])
        for consumer in consumers:
            consumer.process(batch)
        return {"batchItemFailures": [{"itemIdentifier": each} for each in batch.failed]}

    return handle

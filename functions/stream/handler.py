"""The stream function: takes a batch of DynamoDB stream records, gives those that failed."""

from collections.abc import Callable, Sequence
from typing import Any

from functions.container import Container
from functions.platform.parallel import WorkerPool
from functions.stream.consumers import CONSUMERS, FINAL_CONSUMERS, parse_consumers
from functions.stream.records import StreamBatch

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


def build_handler(container: Container, names: Sequence[str] | None = None) -> Handler:
    """Build the stream function, with these consumers; None takes those that its settings name.

    The consumers process a batch side by side, each with its own failures, and the final ones
    after them. An error of one is raised when all are done.
    """
    names = names or parse_consumers(container.settings.stream_consumers)
    consumers = [CONSUMERS[name].build(container) for name in names if name in CONSUMERS]
    final = [FINAL_CONSUMERS[name].build(container) for name in names if name in FINAL_CONSUMERS]
    tombstones = container.tombstones
    pool = WorkerPool("consumers", len(CONSUMERS))

    def handle(event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        batch = StreamBatch(event["Records"], tombstones)
        batch.run(pool, [consumer.process for consumer in consumers])
        for consumer in final:
            consumer.process(batch)
        return {"batchItemFailures": [{"itemIdentifier": each} for each in batch.failed]}

    return handle

"""The stream function: a batch of DynamoDB stream records in, those to be delivered again out."""

from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform.aws import create_client
from functions.stream.bus import Bus
from functions.stream.episodes import EpisodeQuota
from functions.stream.removals import Removals
from functions.stream.service import Lifecycle
from functions.vectors.factory import can_embed

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


def build_handler(container: Container) -> Handler:
    """Build the stream function on the container's tables, and the bus that its settings name."""
    settings, clock = container.settings, container.clock
    bus = None if settings.event_bus is None else Bus(create_client("events"), settings.event_bus)
    vectors = container.embedding_indexer if can_embed(settings) else None
    removals = Removals(container.table, clock)
    lifecycle = Lifecycle(removals, container.task_store, container.log_store, bus, vectors)
    function = settings.aws_lambda_function_name
    quota = EpisodeQuota(container.episode_counts, bus, function, clock)

    def handle(event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        failed = lifecycle.process(event["Records"])
        failed += quota.process(event["Records"], failed)
        return {"batchItemFailures": [{"itemIdentifier": sequence} for sequence in failed]}

    return handle

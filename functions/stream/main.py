"""The stream function's entry point."""

from collections.abc import Callable
from functools import cache
from typing import Any

from functions.platform.start import starting

with starting():
    from functions.event_log.store import LogStore
    from functions.platform.aws import client
    from functions.platform.clock import Clock, now_ms
    from functions.platform.settings import LifecycleSettings
    from functions.platform.table import Table
    from functions.runs.counts import EpisodeCounts
    from functions.search.upkeep import Upkeep
    from functions.stream.bus import Bus
    from functions.stream.episodes import EpisodeQuota
    from functions.stream.removals import Removals
    from functions.stream.service import Lifecycle
    from functions.tasks.store import TaskStore
    from functions.vectors.choice import can_embed, meanings_of
    from functions.vectors.store import VectorStore

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


def build(settings: LifecycleSettings, clock: Clock = now_ms) -> Handler:
    """The stream function on the tables and the bus that the settings name."""
    dynamodb = client("dynamodb")
    table = Table(dynamodb, settings.memory_table)
    bus = None if settings.event_bus is None else Bus(client("events"), settings.event_bus)
    logs = LogStore(Table(dynamodb, settings.log_table))
    meanings = meanings_of(settings, table, clock)
    kept = VectorStore(table, clock, meanings.form)
    vectors = Upkeep(kept, meanings.embed) if can_embed(settings) else None
    lifecycle = Lifecycle(Removals(table, clock), TaskStore(table), logs, bus, vectors)
    function = settings.aws_lambda_function_name
    quota = EpisodeQuota(EpisodeCounts(table, clock), bus, function, clock)

    def handle(event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        failed = lifecycle.process(event["Records"])
        failed += quota.process(event["Records"], failed)
        return {"batchItemFailures": [{"itemIdentifier": sequence} for sequence in failed]}

    return handle


@cache
def _lifecycle() -> Handler:
    with starting():
        return build(LifecycleSettings.from_env())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Takes a batch of DynamoDB stream records; answers with those to be delivered again."""
    return _lifecycle()(event, context)

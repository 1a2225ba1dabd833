"""The stream function: process a batch of DynamoDB stream records, return failed ones.

Settings choose consumers by name. A new consumer is a module with a class, and a line in
`CONSUMERS`. The filters of the event source are derived from the consumers' subscriptions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from functions.container import Container
from functions.platform.parallel import WorkerPool
from functions.platform.settings import WrongSetting
from functions.stream.conversation_learner import ConversationLearner
from functions.stream.event_publisher import EventPublisher
from functions.stream.history_keeper import HistoryKeeper
from functions.stream.records import StreamBatch, Subscription, parse_record
from functions.stream.usage_counter import UsageCounter
from functions.stream.vector_updater import VectorUpdater

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


class Consumer(Protocol):
    """Processes the records that match its subscriptions."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]]

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""

    def process(self, batch: StreamBatch) -> None:
        """Process a batch; records that are to be delivered again fail."""


CONSUMERS: Mapping[str, type[Consumer]] = {
    "events": EventPublisher,
    "vectors": VectorUpdater,
    "learning": ConversationLearner,
    "history": HistoryKeeper,
}
"""These consumers process a batch in parallel."""
FINAL_CONSUMERS: Mapping[str, type[Consumer]] = {"usage": UsageCounter}
"""These consumers run after the others, and see their failures."""
ALL_CONSUMERS = {**CONSUMERS, **FINAL_CONSUMERS}


def build_handler(container: Container, names: Sequence[str] | None = None) -> Handler:
    """Build the stream function with these consumers; None for those that its settings name.

    The consumers process a batch in parallel, each with its own failures; the final ones follow. If
    one raises an error, it is raised when all have ended.
    """
    names = names or parse_consumers(container.settings.stream_consumers)
    consumers = [CONSUMERS[name].build(container) for name in names if name in CONSUMERS]
    final = [FINAL_CONSUMERS[name].build(container) for name in names if name in FINAL_CONSUMERS]
    deleted_owners = container.deleted_owners
    pool = WorkerPool("consumers", len(CONSUMERS))

    def handle(event: dict[str, Any], _context: object = None) -> dict[str, Any]:
        batch = StreamBatch(event["Records"], deleted_owners)
        batch.run(pool, [consumer.process for consumer in consumers])
        for consumer in final:
            consumer.process(batch)
        return {"batchItemFailures": [{"itemIdentifier": each} for each in batch.failed]}

    return handle


def parse_consumers(text: str | None) -> list[str]:
    """Parse the names of consumers, separated by commas; None for all."""
    names = list(ALL_CONSUMERS) if text is None else [name.strip() for name in text.split(",")]
    if not set(names) <= ALL_CONSUMERS.keys():
        raise WrongSetting(f"STREAM_CONSUMERS must be some of {', '.join(ALL_CONSUMERS)}")
    return names


def is_consumed(record: Mapping[str, Any]) -> bool:
    """Tell whether any consumer takes a record of a Lambda event."""
    parsed = parse_record(record)
    return any(each.matches(parsed) for each in _list_subscriptions(ALL_CONSUMERS))


def build_filters(names: Sequence[str]) -> list[dict[str, Any]]:
    """Build the event source's filter patterns, which pass the records of these consumers."""
    subscriptions = _list_subscriptions(names)
    changes = {each.item_type.sort for each in subscriptions if not each.inserts_only}
    inserts = {each.item_type.sort for each in subscriptions if each.inserts_only} - changes
    patterns = [_build_pattern(changes)] if changes else []
    return patterns + ([{"eventName": ["INSERT"], **_build_pattern(inserts)}] if inserts else [])


def _build_pattern(sorts: Iterable[str]) -> dict[str, Any]:
    """Build a pattern for sort keys, given as the templates of item types."""
    rules = [{"prefix": sort.partition("{")[0]} if "{" in sort else sort for sort in sorted(sorts)]
    return {"dynamodb": {"Keys": {"sk": {"S": rules}}}}


def _list_subscriptions(names: Iterable[str]) -> list[Subscription]:
    return [each for name in names for each in ALL_CONSUMERS[name].SUBSCRIPTIONS]

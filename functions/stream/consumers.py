"""The consumers of the change stream, in the order in which they process a batch.

A new consumer is a module with a class like these, and a line in `CONSUMERS`. The filters of the
stream's event source follow from what the consumers subscribe to.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, Self

from functions.container import Container
from functions.stream.event_publisher import EventPublisher
from functions.stream.quota_counter import QuotaCounter
from functions.stream.records import StreamBatch, Subscription, parse_record
from functions.stream.vector_updater import VectorUpdater


class Consumer(Protocol):
    """Processes the records that it subscribes to."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]]

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""

    def process(self, batch: StreamBatch) -> None:
        """Process a batch; records that are to be delivered again fail.

        Raises:
            ServiceError: the whole batch is to be delivered again.
        """


CONSUMERS: tuple[type[Consumer], ...] = (
    EventPublisher,
    VectorUpdater,
    QuotaCounter,  # last: it counts no record that is delivered again
)


def is_consumed(record: Mapping[str, Any]) -> bool:
    """Tell whether any consumer takes a record of a Lambda event."""
    parsed = parse_record(record)
    return any(each.matches(parsed) for each in _subscriptions())


def build_filters() -> list[dict[str, Any]]:
    """Build the event source's filter patterns, which let through what any consumer takes."""
    changes = {each.item_type.sort for each in _subscriptions() if not each.inserts_only}
    inserts = {each.item_type.sort for each in _subscriptions() if each.inserts_only}
    return [
        _build_pattern(changes),
        {"eventName": ["INSERT"], **_build_pattern(inserts - changes)},
    ]


def _build_pattern(sorts: Iterable[str]) -> dict[str, Any]:
    """Build a pattern for sort keys, given as the templates of item types."""
    rules = [{"prefix": sort.partition("{")[0]} if "{" in sort else sort for sort in sorted(sorts)]
    return {"dynamodb": {"Keys": {"sk": {"S": rules}}}}


def _subscriptions() -> list[Subscription]:
    return [each for consumer in CONSUMERS for each in consumer.SUBSCRIPTIONS]

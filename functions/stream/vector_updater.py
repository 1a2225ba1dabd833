"""Update the vectors of the entries that a batch changes (contract §8)."""

from collections.abc import Iterable
from typing import ClassVar, Self

from functions.container import Container
from functions.platform.errors import ServiceError
from functions.platform.keys import Key
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.stream.records import ENTRIES, Change, StreamBatch, Subscription


class VectorUpdater:
    """The consumer of changes of entries that keeps their vectors up to date."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = ENTRIES

    def __init__(self, indexer: EmbeddingIndexer | None) -> None:
        self._indexer = indexer

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(container.embedding_indexer if container.vector_search.can_embed else None)

    def process(self, batch: StreamBatch) -> None:
        """Embed what changed; the record of an entry that can't be embedded fails.

        Raises:
            ServiceError: table or model can't be reached; the whole batch is to be delivered again.
        """
        if self._indexer is None:
            return
        changes = (change for change in batch.changes if change.announcement is None)
        for change in coalesce_changes(changes):
            try:
                self._indexer.index_change(change.old, change.new)
            except ServiceError:
                raise
            except Exception as error:  # noqa: BLE001 - it holds up its own item only
                batch.fail(change.record, error)


def coalesce_changes(changes: Iterable[Change]) -> list[Change]:
    """Combine successive updates of one entry, of which only the last state counts."""
    by_key: dict[Key, list[Change]] = {}
    for change in changes:
        combined = by_key.setdefault(change.record.key, [])
        if combined and _is_next_update(combined[-1], change):
            combined[-1] = combined[-1]._replace(new=change.new)
        else:
            combined.append(change)
    return [change for combined in by_key.values() for change in combined]


def _is_next_update(before: Change, change: Change) -> bool:
    """Tell whether a change updates the very entry that the change before it left."""
    if before.new is None or change.old is None or change.new is None:
        return False
    return before.new.nonce == change.old.nonce == change.new.nonce

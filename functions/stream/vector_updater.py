"""Update the vectors of the entries that a batch changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.platform.aws import is_service_failure
from functions.platform.keys import Key
from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.parallel import WorkerPool
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.stream.records import ENTRIES, Change, StreamBatch, Subscription, order_by_turns
from functions.vectors.client_vector_store import ClientVectorStore

_THREADS = 16
_MAX_FAILURES = 16  # failures until the rest fails without a call


@dataclass(eq=False)
class VectorUpdater:
    """The consumer of changes of entries that keeps their vectors up to date.

    It has its own threads, so that a slow model delays no other consumer.
    """

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = ENTRIES

    _vectors: ClientVectorStore
    _indexer: EmbeddingIndexer | None
    _pool: WorkerPool

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        indexer = container.embedding_indexer if container.vector_search.can_embed else None
        return cls(container.client_vectors, indexer, WorkerPool("vectors", _THREADS))

    def process(self, batch: StreamBatch) -> None:
        """Embed changed entries; if an entry can't be embedded, its record fails."""
        changes = [change for change in batch.changes if change.announcement is None]
        self._remove_client_vectors(batch, changes)
        if self._indexer is None:
            return
        groups = order_by_turns(coalesce_changes(changes), lambda group: group[0].record.tenant)
        failures: list[Exception] = []
        new = [group[0] for group in groups if _is_new(group)]
        size = min(MAX_WRITE_ITEMS, -(-len(new) // _THREADS))
        jobs = [
            partial(self._index_new, self._indexer, new[first : first + size], failures)
            for first in range(0, len(new), size or 1)
        ]
        others = (group for group in groups if not _is_new(group))
        jobs += (partial(self._index, self._indexer, group, failures) for group in others)
        batch.run(self._pool, jobs)

    def _remove_client_vectors(self, batch: StreamBatch, changes: Iterable[Change]) -> None:
        """Remove clients' vectors that their entries no longer have."""
        obsolete = [change for change in changes if _has_obsolete_vector(change)]
        with batch.guard(change.record for change in obsolete):
            self._vectors.remove(
                (old.address.client_vectors, old.vector_at, old.id)
                for old in (change.old for change in obsolete)
                if old is not None and old.vector_at is not None
            )

    def _index_new(
        self,
        indexer: EmbeddingIndexer,
        changes: Sequence[Change],
        failures: list[Exception],
        batch: StreamBatch,
    ) -> None:
        """Index new entries together; if that fails, index one by one to find the failing ones."""
        try:
            indexer.index_new([change.new for change in changes if change.new is not None])
        except Exception as error:  # noqa: BLE001 - it holds up these items only
            if is_service_failure(error):
                failures.append(error)
                for change in changes:
                    batch.fail(change.record, error)
                return
            for change in changes:
                self._index(indexer, [change], failures, batch)

    def _index(
        self,
        indexer: EmbeddingIndexer,
        changes: Sequence[Change],
        failures: list[Exception],
        batch: StreamBatch,
    ) -> None:
        """Index the changes of one entry, one after another, up to one that fails.

        Args:
            failures: of the whole batch so far.
        """
        for change in changes:
            if len(failures) >= _MAX_FAILURES:
                batch.fail(change.record)
                return
            try:
                indexer.index_change(change.old, change.new)
            except Exception as error:  # noqa: BLE001 - it holds up its own item only
                failures.append(error)
                batch.fail(change.record, error)
                return


def _is_new(group: Sequence[Change]) -> bool:
    """Tell whether a group has a new entry without further changes."""
    return len(group) == 1 and group[0].old is None and group[0].new is not None


def _has_obsolete_vector(change: Change) -> bool:
    old, new = change.old, change.new
    if old is None or old.vector_at is None:
        return False
    return new is None or (new.nonce, new.vector_at) != (old.nonce, old.vector_at)


def coalesce_changes(changes: Iterable[Change]) -> list[list[Change]]:
    """Group changes by entry; of successive updates, only the last one remains."""
    by_key: dict[Key, list[Change]] = {}
    for change in changes:
        combined = by_key.setdefault(change.record.key, [])
        if combined and _is_next_update(combined[-1], change):
            combined[-1] = combined[-1]._replace(new=change.new)
        else:
            combined.append(change)
    return list(by_key.values())


def _is_next_update(before: Change, change: Change) -> bool:
    if before.new is None or change.old is None or change.new is None:
        return False
    return before.new.nonce == change.old.nonce == change.new.nonce

"""From a batch of stream records to the vectors of entries (contract §8)."""

from collections.abc import Iterable
from dataclasses import replace

from functions.platform.errors import ServiceError
from functions.platform.keys import Key
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.stream.batch import Batch
from functions.stream.records import Change


def follow(batch: Batch, changes: Iterable[Change], vectors: EmbeddingIndexer) -> None:
    """Has the vectors follow the changes of entries; what can't be embedded fails.

    Raises:
        ServiceError: the store or the model is out of reach; the whole batch has to come again.
    """
    for change in in_sum(change for change in changes if change.announced is None):
        try:
            vectors.index_change(change.old, change.new)
        except ServiceError:
            raise
        except Exception as error:  # noqa: BLE001 - one record's trouble isn't the others'
            batch.fail(change.source, error)


def in_sum(changes: Iterable[Change]) -> list[Change]:
    """The changes, with updates of one entry in a row taken together: only the last one counts."""
    rows: dict[Key, list[Change]] = {}
    for change in changes:
        row = rows.setdefault(change.source.key, [])
        if row and _goes_on(row[-1], change):
            row[-1] = replace(row[-1], new=change.new)
        else:
            row.append(change)
    return [change for row in rows.values() for change in row]


def _goes_on(before: Change, change: Change) -> bool:
    """Whether it is the same entry that is changed once more, and still stands."""
    if before.new is None or change.old is None or change.new is None:
        return False
    return before.new.nonce == change.old.nonce == change.new.nonce

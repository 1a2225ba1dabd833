"""Remove the index rows of entries of shared memory that never came (`entries.direct_creates`)."""

from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.entries.unfinished_creates import UnfinishedCreates
from functions.platform.entry_keys import parse_index_row_entry
from functions.platform.item_types import INDEX_ROW
from functions.platform.items import decode_item
from functions.platform.parallel import WorkerPool
from functions.stream.records import StreamBatch, StreamRecord, Subscription

_THREADS = 4


class OrphanRemover:
    """The consumer of the index rows under all that come before their entries.

    The entry follows within milliseconds, so it mostly is in the same batch, and nothing is read.
    """

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = (
        Subscription(
            INDEX_ROW, inserts_only=True, prefix=INDEX_ROW.build_sort(tag="", sort_token="")
        ),
    )

    def __init__(self, unfinished: UnfinishedCreates) -> None:
        self._unfinished = unfinished
        self._pool = WorkerPool("orphans", _THREADS)

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(container.unfinished_creates)

    def process(self, batch: StreamBatch) -> None:
        """Remove a batch's rows that have no entry; the record of one that can't be fails."""
        came = {(change.record.key, change.new.nonce) for change in batch.changes if change.new}
        wanted = [each for each in batch.records if self.SUBSCRIPTIONS[0].matches(each)]
        unknown = [each for each in wanted if parse_index_row_entry(each.key) not in came]
        batch.run(self._pool, [partial(self._check, each) for each in unknown])

    def _check(self, record: StreamRecord, batch: StreamBatch) -> None:
        row = decode_item(record.new or {})
        try:
            self._unfinished.remove_orphaned_rows(record.key, tuple(row.get("tags", ())))
        except Exception as error:  # noqa: BLE001 - it holds up its own item only
            batch.fail(record, error)

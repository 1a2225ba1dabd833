"""What is known to be deleted."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.deletion.store import DeletionStore
from functions.deletion.tombstones import Tombstones


class TombstoneContainer(FurtherContainer):
    """Makes the records of what is deleted."""

    @cached_property
    def deletion_store(self) -> DeletionStore:
        common = self._common
        return DeletionStore(common.table, common.log_table, common.archive_storage)

    @cached_property
    def tombstones(self) -> Tombstones:
        return Tombstones(self.deletion_store, self._common.clock)

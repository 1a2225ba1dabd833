"""What is known to be deleted."""

from functools import cached_property

from functions.container import Container
from functions.deletion.store import DeletionStore
from functions.deletion.tombstones import Tombstones


class TombstoneContainer:
    """Makes these services, each at its first use, on those of the common container."""

    def __init__(self, common: Container) -> None:
        self._common = common

    @cached_property
    def deletion_store(self) -> DeletionStore:
        common = self._common
        return DeletionStore(common.table, common.log_table, common.archive_storage)

    @cached_property
    def tombstones(self) -> Tombstones:
        return Tombstones(self.deletion_store, self._common.clock)

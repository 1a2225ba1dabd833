"""What is known to be deleted."""

from functions.container import Container
from functions.deletion.store import DeletionStore
from functions.deletion.tombstones import Tombstones


class TombstoneContainer:
    """Makes the records of what is deleted."""

    def __init__(self, common: Container) -> None:
        self.deletion_store = DeletionStore(common.table, common.log_table, common.archive_storage)
        self.tombstones = Tombstones(self.deletion_store, common.clock)

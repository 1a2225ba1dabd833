"""Files of large objects, and how those are deleted that no object has (contract §12).

A marker names a file. It is written before the file, and removed by the transaction that makes an
object have the file; and it is written in the transaction after which no object has it. So the
schedule finds each unused file, whatever crashes.
"""

from functions.platform.archive_storage import ArchiveStorage
from functions.platform.errors import Unavailable
from functions.platform.item_types import OBJECT_FILE
from functions.platform.keys import Key, get_due_shard, get_tenant
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.value_parts import STAGED_FOR
from functions.platform.writes import Write, delete, put, update


def build_file_key(partition: str, file: str) -> Key:
    """Build the key of a file's marker."""
    return partition, OBJECT_FILE.build_sort(file=file)


def clear_staged_file(partition: str, file: str) -> Write:
    """Remove a file's marker, in the transaction that makes an object have the file.

    It fails if the file is being deleted, because its writer took too long.
    """
    condition = "attribute_exists(pk) AND attribute_not_exists(closing)"
    return delete(build_file_key(partition, file), condition)


def mark_unused_file(partition: str, file: str, now: int) -> Write:
    """Mark a file, in the transaction after which no object has it."""
    return _mark(partition, file, now)


def _mark(partition: str, file: str, due: int) -> Write:
    item = {DUE_ATTRIBUTE: due, DUE_SHARD_ATTRIBUTE: get_due_shard(partition)}
    return put(build_file_key(partition, file), item)


class ObjectFiles:
    """Reads, writes and deletes the files of objects."""

    def __init__(self, table: Table, storage: ArchiveStorage | None) -> None:
        self._table = table
        self._storage = storage

    def stage(self, partition: str, file: str, data: bytes, now: int) -> None:
        """Write a file that an object is going to have.

        Raises:
            Unavailable: the storage doesn't respond, or there is none.
        """
        storage = self._required
        self._table.put(_mark(partition, file, now + STAGED_FOR))
        storage.put(_build_name(partition, file), data)

    def read(self, partition: str, file: str) -> bytes:
        """Read a file.

        Raises:
            Unavailable: the storage doesn't respond, or no longer has the file.
        """
        return self._required.get(_build_name(partition, file))

    def remove(self, marker: Key) -> None:
        """Delete the file that a marker names, and the marker.

        Raises:
            Unavailable: the storage doesn't respond; the marker stays.
        """
        try:
            closing = update(marker, "SET closing = :yes", "attribute_exists(pk)", yes=True)
            self._table.update(closing)
        except ConditionFailed:
            return  # an object has the file, or it is deleted
        partition, sort = marker
        self._required.delete(_build_name(partition, OBJECT_FILE.parse(sort)))
        self._table.write_many([delete(marker)])

    @property
    def _required(self) -> ArchiveStorage:
        if self._storage is None:
            raise Unavailable(
                "no storage of large objects is set; the operator sets ARCHIVE_BUCKET"
            )
        return self._storage


def _build_name(partition: str, file: str) -> str:
    space = partition.rpartition("#")[2]
    return f"objects/{get_tenant(partition)}/{space}/{file}"

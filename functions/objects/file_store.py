"""Files of large objects, which are staged as `functions.platform.staging` describes it.

While an object has the file, the marker of its upload stays, without being due, so a repeated
request doesn't begin the upload again.
"""

from functions.objects.model import ObjectUpload
from functions.platform.archive_storage import Address, ArchiveStorage
from functions.platform.errors import Unavailable
from functions.platform.item_types import OBJECT_FILE
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import REMOVE_DUE, Key, build_due_attributes, get_tenant
from functions.platform.limits import UPLOAD_ADDRESS_SECONDS
from functions.platform.staging import IS_OPEN, hide, show, stage
from functions.platform.table import Table
from functions.platform.writes import Write, delete, put_new, update

_IS_UNUSED = "attribute_exists(pk) AND attribute_not_exists(completed)"


def clear_staged_file(item: Item) -> Write:
    """Remove the marker of a file, in the transaction that adds the file to an object.

    The marker of an upload stays, and is no longer due. The write fails if the file is being
    deleted, because its writer took too long.
    """
    key = OBJECT_FILE.build_key_in(item["pk"], file=item["file"])
    if "address_expires_at" not in item:
        return show(key)
    is_unused = f"{IS_OPEN} AND attribute_not_exists(completed)"
    return update(key, f"SET completed = :yes {REMOVE_DUE}", is_unused, yes=True)


def mark_unused_file(item: Item, now: int) -> Write:
    """Mark a file, in the transaction that removes it from its object.

    It is due when all signed addresses of its name have expired.
    """
    due = max(now, item.get("address_expires_at", 0))
    return hide(OBJECT_FILE.build_key_in(item["pk"], file=item["file"]), due)


class ObjectFiles:
    """Reads, writes and deletes the files of objects."""

    def __init__(self, table: Table, archive_storage: ArchiveStorage | None) -> None:
        self._table = table
        self._storage = archive_storage

    def stage(self, partition: str, file: str, data: bytes, now: int) -> None:
        """Write a file before its object."""
        storage = self._required
        self._table.put(stage(OBJECT_FILE.build_key_in(partition, file=file), now))
        storage.put(_build_name(partition, file), data)

    def begin_upload(self, partition: str, upload: ObjectUpload) -> bool:
        """Mark the file of an upload; return False if its id exists."""
        attributes = to_attributes(upload, "is_completed") | build_due_attributes(
            partition, upload.expires_at
        )
        return self._table.try_write(
            put_new(OBJECT_FILE.build_key_in(partition, file=upload.upload_id), attributes)
        )

    def get_upload(self, partition: str, id: str) -> ObjectUpload | None:
        """Read an upload; None if there is none, or it is being deleted: one call."""
        item = self._table.get(OBJECT_FILE.build_key_in(partition, file=id))
        if item is None or "writer" not in item or "closing" in item:
            return None
        return from_attributes(ObjectUpload, item, is_completed="completed" in item)

    def sign_upload(self, partition: str, upload: ObjectUpload) -> Address:
        """Sign the address for the bytes of an upload."""
        return self._required.sign_upload(
            _build_name(partition, upload.upload_id),
            upload.size,
            UPLOAD_ADDRESS_SECONDS,
            is_sensitive=upload.is_sensitive,
        )

    def sign_download(self, item: Item, seconds: int) -> str:
        """Sign the address from which an object's file is read."""
        name = _build_name(item["pk"], item["file"])
        return self._required.sign_download(name, seconds, item["content_type"])

    def get_size(self, partition: str, file: str) -> int | None:
        """Return the size of a file in bytes; None if there is none."""
        return self._required.get_size(_build_name(partition, file))

    def read(self, partition: str, file: str) -> bytes:
        """Read a file."""
        return self._required.get(_build_name(partition, file))

    def read_range(self, partition: str, file: str, start: int, end: int) -> bytes:
        """Read the bytes of a file from `start` to before `end`."""
        return self._required.get_range(_build_name(partition, file), start, end)

    def remove(self, key: Key) -> None:
        """Delete the file of a marker, and the marker, unless an object has the file."""
        if self._table.try_write(update(key, "SET closing = :yes", _IS_UNUSED, yes=True)):
            partition, sort = key
            self._required.delete(_build_name(partition, OBJECT_FILE.parse(sort)))
            self._table.write_many([delete(key)])

    @property
    def _required(self) -> ArchiveStorage:
        if self._storage is None:
            raise Unavailable(
                "this deployment has no storage for large objects; "
                "its operator can set ARCHIVE_BUCKET"
            )
        return self._storage


def _build_name(partition: str, file: str) -> str:
    space = partition.rpartition("#")[2]
    return f"objects/{get_tenant(partition)}/{space}/{file}"

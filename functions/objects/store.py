"""Reads and writes of spaces and objects; sensitive objects are encrypted.

All objects of a space are in one partition, under their plain keys, so that a query lists them in
order. An object's item has its bytes if they are few, else the name of their file.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from functions.namespaces.store import decode_namespace, put_permissions
from functions.objects.file_store import (
    ObjectFiles,
    clear_staged_file,
    mark_unused_file,
)
from functions.objects.model import NewObject, ObjectUpload, Space, StoredObject
from functions.platform.bounded_pages import WHOLE, WantedPage
from functions.platform.errors import ServiceError, UnreadableValue
from functions.platform.item_types import OBJECT, OBJECT_FILE, OBJECT_SPACE
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import HIGHEST, Key, build_due_attributes
from functions.platform.limits import MAX_INLINE_OBJECT_BYTES
from functions.platform.newest_first import list_items
from functions.platform.schema import DUE_ATTRIBUTE
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.table import Store, Table
from functions.platform.values import UNREADABLE, ValueCodec, read_text
from functions.platform.writes import Write, delete, put_version

_FIRST_VERSION = 1  # for encryption; each write has its own generation
_AT_VERSION = "version = :seen"


class ObjectStore(Store):
    """Reads and writes the spaces and objects of all tenants."""

    def __init__(self, table: Table, values: ValueCodec, files: ObjectFiles) -> None:
        super().__init__(table)
        self._values = values
        self._files = files

    def find(
        self, tenant: str, space: str, keys: Sequence[str]
    ) -> tuple[Space | None, dict[str, Item]]:
        """Read a space, and the items of objects in it by key: one call for up to 99 keys."""
        space_key = OBJECT_SPACE.build_key(tenant, space=space)
        by_key = {OBJECT.build_key(tenant, space=space, key=key): key for key in keys}
        found = self._table.get_many([space_key, *by_key])
        item = found.get(space_key)
        objects = {name: found[key] for key, name in by_key.items() if key in found}
        return None if item is None else _decode_space(item), objects

    def get_space(self, tenant: str, space: str) -> Space | None:
        """Read a space: one call."""
        return self._table.find(OBJECT_SPACE.build_key(tenant, space=space), _decode_space)

    def list_spaces(self, tenant: str, wanted: WantedPage = WHOLE) -> Iterator[Space]:
        """List a tenant's spaces, newest first."""
        return map(_decode_space, list_items(self._table, OBJECT_SPACE, wanted, tenant))

    def list_items(
        self, tenant: str, space: str, prefix: str, after: str | None, page_size: int
    ) -> Iterator[Item]:
        """Read the items of objects in the order of their keys; a call reads `page_size` items.

        Args:
            after: a key; only those behind it are read.
        """
        partition, last = OBJECT.build_key(tenant, space=space, key=prefix + HIGHEST)
        first = prefix if after is None else f"{after}\0"
        return self._table.query(
            partition, OBJECT.build_sort(key=first), last, min(page_size, 1000)
        )

    def encode(
        self, tenant: str, address: tuple[str, str], generation: str, new: NewObject, data: bytes
    ) -> tuple[Item, bytes | None]:
        """Encode the content of a write as attributes, and as a file if it needs one."""
        key = OBJECT.build_key(tenant, space=address[0], key=address[1])
        content = self._encrypt(data, tenant, _build_context(key, generation), new)
        content["metadata"] = self._encrypt_metadata(tenant, key, generation, new)
        if len(data) <= MAX_INLINE_OBJECT_BYTES:
            return content, None
        file: bytes = content.pop("value")
        return content | {"file": generation}, file

    def encode_upload(
        self, tenant: str, address: tuple[str, str], upload: ObjectUpload, new: NewObject
    ) -> Item:
        """Encode the content of an upload as attributes."""
        key = OBJECT.build_key(tenant, space=address[0], key=address[1])
        return {
            "metadata": self._encrypt_metadata(tenant, key, upload.upload_id, new),
            "file": upload.upload_id,
            "address_expires_at": upload.address_expires_at,
        }

    def _encrypt_metadata(
        self, tenant: str, key: Key, generation: str, new: NewObject | StoredObject
    ) -> Item:
        if new.metadata is UNREADABLE:
            raise UnreadableValue
        return self._encrypt(new.metadata, tenant, _build_metadata_context(key, generation), new)

    def _encrypt(self, data: bytes, tenant: str, name: str, new: NewObject | StoredObject) -> Item:
        if new.sensitivity in ENCRYPTED:
            return self._values.encrypt(data, tenant, name, _FIRST_VERSION)
        return {"value": data}

    def decode(self, tenant: str, item: Item) -> StoredObject:
        """Decode an object without its bytes."""
        return decode_description(
            item, read_text(item, lambda: self._decode_metadata(tenant, item))
        )

    def _decode_metadata(self, tenant: str, item: Item) -> bytes:
        """Decode the metadata, which is bound to the object's key."""
        stored, is_sealed = item["metadata"], "data_key" in item["metadata"]
        is_sensitive = item.get("sensitivity") in ENCRYPTED
        is_moved = item.get("file", item["generation"]) != item["generation"]
        if is_moved or is_sealed != is_sensitive or is_sealed < ("data_key" in item):
            raise UnreadableValue
        key = (item["pk"], item["sk"])
        return self._decrypt(stored, tenant, _build_metadata_context(key, item["generation"]))

    def _read(self, tenant: str, item: Item) -> bytes:
        """Read all bytes of an object: a call to the storage if it has a file."""
        self._decode_metadata(tenant, item)
        name, whole = _build_context((item["pk"], item["sk"]), item["generation"]), item
        if "file" in item:
            whole = item | {"value": self._files.read(item["pk"], item["file"])}
        return self._decrypt(whole, tenant, name)

    def read_range(self, tenant: str, item: Item, start: int, end: int) -> bytes:
        """Read the bytes of an object from `start` to before `end`."""
        is_whole = (start, end) == (0, item["size"])
        if is_whole or "file" not in item or "data_key" in item:
            return self._read(tenant, item)[start:end]
        self._decode_metadata(tenant, item)
        return self._files.read_range(item["pk"], item["file"], start, end)

    def _decrypt(self, item: Item, tenant: str, name: str) -> bytes:
        if "data_key" in item:
            return self._values.decode(item, tenant, name, _FIRST_VERSION)
        value: bytes = item["value"]
        return value

    def stage(self, tenant: str, space: str, file: str, data: bytes, now: int) -> None:
        """Write the file of an object, before its item."""
        self._files.stage(OBJECT.build_partition(tenant, space=space), file, data, now)

    def put(self, item: Item, old: Item | None, now: int, further: Sequence[Write] = ()) -> None:
        """Write an object in place of the one whose item is `old`, with further writes."""
        writes = [_replace(item, old), *further]
        if "file" in item:
            writes.append(clear_staged_file(item))
        self._change(writes, now, [] if old is None else [old])

    def rename(
        self,
        tenant: str,
        new: StoredObject,
        source: Item,
        old: Item | None,
        now: int,
        further: Sequence[Write] = (),
    ) -> None:
        """Write an object under a new key and delete it under its former one, all or nothing.

        Args:
            new: the object under its new key.
            source: its item under the former key.
            old: the present item under the new key.
        """
        former = (source["pk"], source["sk"])
        item = source | describe(tenant, new)
        key = (item["pk"], item["sk"])
        item["metadata"] = self._encrypt_metadata(tenant, key, new.generation, new)
        writes = [_replace(item, old), delete(former, _AT_VERSION, seen=source["version"])]
        self._change([*writes, *further], now, [] if old is None else [old])

    def delete(self, items: Sequence[Item], now: int, further: Sequence[Write] = ()) -> None:
        """Delete up to 40 objects of one space, all or none, with further writes."""
        writes = [
            delete((each["pk"], each["sk"]), _AT_VERSION, seen=each["version"]) for each in items
        ]
        self._change([*writes, *further], now, items)

    def _change(self, writes: Sequence[Write], now: int, removed: Sequence[Item]) -> None:
        """Write objects, and delete the files of deleted ones.

        The schedule deletes files later if their deletion fails or isn't due.
        """
        without = [each for each in removed if "file" in each]
        marks = [mark_unused_file(each, now) for each in without]
        self._table.write([*writes, *marks])
        for each in without:
            if each.get("address_expires_at", 0) <= now:
                with suppress(ServiceError):
                    self._files.remove(OBJECT_FILE.build_key_in(each["pk"], file=each["file"]))


def delete_space(tenant: str, space: Space) -> Write:
    """Delete a space without its objects."""
    return delete(OBJECT_SPACE.build_key(tenant, space=space.name))


def put_space(tenant: str, old: Space | None, new: Space) -> Write:
    """Put a space in place of the one that was read, if any."""
    key = OBJECT_SPACE.build_key(tenant, space=new.name)
    before = None if old is None else old.permissions
    return put_permissions(key, before, new.permissions, owner=new.owner)


def describe(tenant: str, stored: StoredObject) -> Item:
    """Encode an object's fields as attributes, without its bytes and its metadata."""
    partition, sort = OBJECT.build_key(tenant, space=stored.space, key=stored.key)
    described = to_attributes(stored, "key", "metadata", "expires_at")
    return (
        described
        | {"pk": partition, "sk": sort}
        | build_due_attributes(partition, stored.expires_at)
    )


def decode_description(item: Item, metadata: bytes = b"{}") -> StoredObject:
    """Decode the fields of an object from its item, with decrypted metadata."""
    key, expires_at = OBJECT.parse(item["sk"]), item.get(DUE_ATTRIBUTE)
    return from_attributes(StoredObject, item, key=key, metadata=metadata, expires_at=expires_at)


def is_expired(item: Item, now: int) -> bool:
    """Tell whether an item's object has expired."""
    return decode_description(item).is_expired(now)


def _decode_space(item: Item) -> Space:
    return Space(item["owner"], decode_namespace(item))


def _replace(item: Item, old: Item | None) -> Write:
    attributes = {name: value for name, value in item.items() if name not in ("pk", "sk")}
    return put_version(
        (item["pk"], item["sk"]), attributes, None if old is None else old["version"]
    )


def _build_context(key: Key, generation: str) -> str:
    """Build the context of bytes: a write in a space, and not a key, which a rename changes.

    The metadata are bound to the key, and are decrypted before the bytes.
    """
    return f"{key[0]}#{generation}"


def _build_metadata_context(key: Key, generation: str) -> str:
    return f"{key[0]}#{key[1]}#{generation}#metadata"

"""Read and list objects."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple, TypeVar

from functions.authorization.rules import authorize, is_allowed
from functions.identity.model import Principal
from functions.namespaces.rules import find_owner
from functions.objects import rules
from functions.objects.authority import LIST_OBJECTS, READ_OBJECTS
from functions.objects.file_store import ObjectFiles
from functions.objects.model import SpaceTarget, StoredObject
from functions.objects.store import ObjectStore, is_expired
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.errors import Unavailable, UnreadableValue
from functions.platform.items import Item
from functions.platform.limits import MAX_OBJECT_BYTES
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.values import UNREADABLE

_READ_AT_ONCE = 8  # objects; each may have a file

SelectRange = Callable[[StoredObject], tuple[int, int] | None]
"""Returns the first byte to read, and the byte after the last."""
Used = TypeVar("Used")


class ObjectRead(NamedTuple):
    """An object that was read.

    Attributes:
        part: the range of its bytes; None for all.
        address: where to read them, if they exceed a response.
    """

    stored: StoredObject
    part: tuple[int, int] | None
    data: bytes = b""
    address: str | None = None


class ObjectsRead(NamedTuple):
    """Several objects that were read.

    Attributes:
        too_large: the keys of those that only a GET of their own gives.
        unread: the keys that are left for another request.
    """

    found: list[tuple[StoredObject, bytes]]
    missing: list[str]
    too_large: list[str]
    unread: list[str]


class ObjectReader:
    """The objects that a caller may read.

    Methods raise `AccessDenied` if the caller may not read the space, and `ValidationFailed` if a
    key is too long.
    """

    def __init__(self, store: ObjectStore, files: ObjectFiles, clock: Clock) -> None:
        self._store = store
        self._files = files
        self._clock = clock

    def get(self, caller: Principal, space: str, key: str) -> StoredObject:
        """Get the description of an object, without its bytes: one call.

        Raises:
            NotFound: there is none.
        """
        return self._store.decode(caller.tenant, self._get_item(caller, space, key))

    def read(self, caller: Principal, space: str, key: str, select: SelectRange) -> ObjectRead:
        """Read an object: one call, and one to the storage if it is large.

        Args:
            select: returns the bytes to read of an object; None for all.

        Raises:
            NotFound: there is none.
            Unavailable: the storage doesn't respond.
        """

        def use(stored: StoredObject, item: Item) -> ObjectRead:
            part = select(stored)
            start, end = part or (0, stored.size)
            if stored.metadata is UNREADABLE:
                raise UnreadableValue
            if end - start > MAX_OBJECT_BYTES:
                seconds = rules.limit_address_seconds(stored, self._clock())
                return ObjectRead(stored, part, address=self._files.sign_download(item, seconds))
            return ObjectRead(stored, part, self._store.read_range(caller.tenant, item, start, end))

        return self._use_present(caller, space, key, self._get_item(caller, space, key), use)

    def _use_present(
        self,
        caller: Principal,
        space: str,
        key: str,
        item: Item,
        use: Callable[[StoredObject, Item], Used],
    ) -> Used:
        """Use an object, or its replacement if it has just been replaced."""
        backoff = Backoff("others are writing this object")
        while True:
            try:
                return use(self._store.decode(caller.tenant, item), item)
            except Unavailable:
                newer = self._get_item(caller, space, key)
                if newer["version"] == item["version"]:
                    raise
                item = newer
                backoff.wait()

    def _get_item(self, caller: Principal, space: str, key: str) -> Item:
        found = self._find_readable(caller, space, [key])
        if key not in found:
            raise rules.build_not_found()
        return found[key]

    def _find_readable(self, caller: Principal, space: str, keys: Sequence[str]) -> dict[str, Item]:
        for key in keys:
            rules.assert_key(key, "key")
        made, items = self._store.find(caller.tenant, space, keys)
        if made is None and find_owner(space) is None:
            return {}
        authorize(caller, READ_OBJECTS, SpaceTarget(space, made))
        now = self._clock()
        return {key: each for key, each in items.items() if not is_expired(each, now)}

    def read_many(
        self, caller: Principal, space: str, keys: Sequence[str], max_bytes: int
    ) -> ObjectsRead:
        """Read several objects of a space up to a total size, but at least one."""
        wanted = list(dict.fromkeys(keys))
        items = self._find_readable(caller, space, wanted)
        missing = [key for key in wanted if key not in items]
        too_large = [key for key, item in items.items() if item["size"] > MAX_OBJECT_BYTES]
        there = [key for key in wanted if key not in (*missing, *too_large)]
        sizes = accumulate(items[key]["size"] for key in there)
        taken = max(sum(size <= max_bytes for size in sizes), 1)
        chosen, rest = there[:taken], there[taken:]

        def use(stored: StoredObject, item: Item) -> tuple[StoredObject, bytes]:
            try:
                return stored, self._store.read_range(caller.tenant, item, 0, stored.size)
            except UnreadableValue:
                return stored._replace(metadata=UNREADABLE), b""

        calls = [partial(self._use_present, caller, space, key, items[key], use) for key in chosen]
        read: list[tuple[StoredObject, bytes]] = []
        for start in range(0, len(calls), _READ_AT_ONCE):
            read += run_parallel(calls[start : start + _READ_AT_ONCE])
        return ObjectsRead(read, missing, too_large, rest)

    def list_all(
        self, caller: Principal, space: str, prefix: str, wanted: WantedPage
    ) -> Iterator[StoredObject]:
        """List objects by their keys, without their bytes; none if the space does not exist."""
        made = self._store.get_space(caller.tenant, space)
        if made is None and find_owner(space) is None:
            return iter(())
        target = SpaceTarget(space, made)
        authorize(caller, LIST_OBJECTS, target)
        reads = is_allowed(caller, READ_OBJECTS, target)
        now = self._clock()
        of = caller.tenant, space, prefix
        items = self._store.list_items(*of, wanted.after, wanted.read_size)
        live = (each for each in items if not is_expired(each, now))
        found = (self._store.decode(caller.tenant, each) for each in live)
        return found if reads else (each._replace(metadata=b"") for each in found)

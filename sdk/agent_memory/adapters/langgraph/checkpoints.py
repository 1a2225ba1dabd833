"""Store checkpoints as objects of a space, in few requests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from agent_memory.adapters.langgraph.codec import Codec, Head, StoredWrite, merge_writes
from agent_memory.adapters.langgraph.keys import (
    CheckpointKeys,
    build_head_key,
    build_value_key,
    build_writes_key,
    group_keys,
)
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.exceptions import MemoryConflictError

_PAGE, _FIRST_PAGE = 1000, 10
_READ_AT_ONCE = 20  # checkpoints
_MOST_INLINE = 8000  # bytes of a value in its checkpoint; a larger one has its own object


class Checkpoints:
    """Reads and writes checkpoints."""

    def __init__(self, storage: ObjectStorage, codec: Codec) -> None:
        self._storage = storage
        self._codec = codec

    def put(self, place: str, head: Head, large: Mapping[str, tuple[str, bytes]]) -> Head:
        """Store a checkpoint: its large values, then the rest, which makes it visible.

        Args:
            large: the values of `head` that are not small, by channel.
        """
        thread = CheckpointKeys(place).thread
        keys = {channel: build_value_key(thread) for channel in large}
        packed = [(keys[channel], self._codec.pack(data)) for channel, (_, data) in large.items()]
        self._storage.run(lambda each: self._storage.put(*each), packed)
        for channel, (type, _) in large.items():
            head.large[channel] = (type, keys[channel])
        self._storage.put(build_head_key(place), self._codec.pack_head(head))
        return head

    def put_writes(self, place: str, task_id: str, writes: Sequence[StoredWrite]) -> None:
        """Store the writes of a task: the first ordinary one remains, the last special one."""
        special = {each.index: each for each in writes if each.index < 0}
        packed = [
            (build_writes_key(place, task_id, index), self._codec.pack_writes([each]))
            for index, each in special.items()
        ]
        ordinary = [each for each in writes if each.index >= 0]
        if ordinary:
            self._add_writes(build_writes_key(place, task_id), ordinary)
        self._storage.run(lambda each: self._storage.put(*each), packed)

    def _add_writes(self, key: str, writes: Sequence[StoredWrite]) -> None:
        try:
            self._storage.put(key, self._codec.pack_writes(writes), only_new=True)
        except MemoryConflictError:
            self._merge_writes(key, writes)

    def _merge_writes(self, key: str, writes: Sequence[StoredWrite]) -> None:
        """Add writes whose index is free to the stored ones."""
        while True:
            found = self._storage.get(key)
            before = [] if found is None else self._codec.unpack_writes(found.data)
            merged = merge_writes(before, writes)
            if merged is None:
                return
            only = {"only_new": True} if found is None else {"version": found.version}
            try:
                self._storage.put(key, self._codec.pack_writes(merged), **only)
            except MemoryConflictError:
                continue
            return

    def list_keys(self, prefix: str, *, is_newest_wanted: bool = False) -> Iterator[CheckpointKeys]:
        """Yield the keys of checkpoints, newest of a namespace first."""
        page_size = _FIRST_PAGE if is_newest_wanted else _PAGE
        return group_keys(self._storage.list_keys(prefix, page_size))

    def read(
        self, wanted: Iterable[CheckpointKeys]
    ) -> Iterator[tuple[CheckpointKeys, Head, Sequence[bytes]]]:
        """Yield checkpoints and their writes, without large values, in groups of requests."""
        remaining = iter(wanted)
        while group := list(islice(remaining, _READ_AT_ONCE)):
            found = self._storage.get_many(key for each in group for key in each.all)
            for each in group:
                packed = found.get(each.head)
                if packed is not None:
                    writes = [found[key] for key in each.writes if key in found]
                    yield each, self._codec.unpack_head(packed), writes

    def load_values(self, head: Head, channels: Iterable[str] | None = None) -> dict[str, Any]:
        """Load the values of a checkpoint's channels; all of them unless some are named."""
        wanted = {*head.values, *head.large} if channels is None else set(channels)
        large = {channel: each for channel, each in head.large.items() if channel in wanted}
        found = self._storage.get_many(key for _, key in large.values())
        load, unpack = self._codec.load, self._codec.unpack
        values = {name: load(each) for name, each in head.values.items() if name in wanted}
        return values | {
            name: load((type, unpack(found[key]))) for name, (type, key) in large.items()
        }


def is_inline(data: bytes) -> bool:
    """Tell whether a value is stored beside its checkpoint."""
    return len(data) <= _MOST_INLINE

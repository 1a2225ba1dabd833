"""Checkpoints and their writes as bytes, packed from the output of LangGraph's serializer."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ormsgpack
from langgraph.checkpoint.base import WRITES_IDX_MAP, PendingWrite, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

_WORTH_COMPRESSING = 1024  # bytes
_PLAIN, _COMPRESSED = b"\x00", b"\x01"
_LEVEL = 1  # zlib's level: saves four fifths as much as the highest, in a tenth of the time

Typed = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Head:
    """A stored checkpoint.

    Attributes:
        parent: the id of the checkpoint before it.
        checkpoint: without the values of its channels.
        values: the small values, by channel.
        large: the types and keys of the large values, by channel.
        snapshots: the channels whose values end the history of a delta channel.
    """

    thread_id: str
    namespace: str
    parent: str | None
    checkpoint: Typed
    metadata: Typed
    values: dict[str, Typed]
    large: dict[str, tuple[str, str]]
    snapshots: list[str]

    def has_value(self, channel: str) -> bool:
        """Return True if the value of a channel is stored."""
        return channel in self.values or channel in self.large


@dataclass(frozen=True, slots=True)
class StoredWrite:
    """A stored write of a task."""

    task_path: str
    task_id: str
    index: int
    channel: str
    value: Typed


class Codec:
    """Packs and unpacks checkpoints and writes.

    Args:
        serde: LangGraph's serializer.
        compress: whether to compress large data.
    """

    def __init__(self, serde: SerializerProtocol, *, compress: bool) -> None:
        self.serde = serde
        self._compress = compress

    def pack(self, data: bytes) -> bytes:
        """Pack bytes, compressed if smaller."""
        if self._compress and len(data) >= _WORTH_COMPRESSING:
            compressed = zlib.compress(data, _LEVEL)
            if len(compressed) < len(data):
                return _COMPRESSED + compressed
        return _PLAIN + data

    def unpack(self, packed: bytes) -> bytes:
        """Unpack bytes."""
        data = packed[1:]
        return zlib.decompress(data) if packed[:1] == _COMPRESSED else data

    def pack_head(self, head: Head) -> bytes:
        """Pack a checkpoint."""
        fields = {name: getattr(head, name) for name in Head.__slots__}
        return self.pack(ormsgpack.packb(fields))

    def unpack_head(self, packed: bytes) -> Head:
        """Unpack a checkpoint."""
        return Head(**ormsgpack.unpackb(self.unpack(packed)))

    def pack_writes(self, writes: Iterable[StoredWrite]) -> bytes:
        """Pack writes."""
        listed = [[getattr(each, name) for name in StoredWrite.__slots__] for each in writes]
        return self.pack(ormsgpack.packb(listed))

    def unpack_writes(self, packed: bytes) -> list[StoredWrite]:
        """Unpack writes."""
        return [StoredWrite(*each) for each in ormsgpack.unpackb(self.unpack(packed))]

    def encode_writes(
        self, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> list[StoredWrite]:
        """Encode the writes of a task, each with its index: below 0 for a special channel."""
        return [
            StoredWrite(
                task_path,
                task_id,
                WRITES_IDX_MAP.get(channel, index),
                channel,
                self.serde.dumps_typed(value),
            )
            for index, (channel, value) in enumerate(writes)
        ]

    def decode_writes(self, packed: Iterable[bytes]) -> list[PendingWrite]:
        """Decode the writes of a checkpoint, in the order in which LangGraph applies them."""
        stored = [write for each in packed for write in self.unpack_writes(each)]
        stored.sort(key=lambda each: writes_sort_key(each.task_path, each.task_id, each.index))
        return [(each.task_id, each.channel, self.load(each.value)) for each in stored]

    def load(self, typed: Sequence[Any]) -> Any:
        """Load a value."""
        return self.serde.loads_typed((typed[0], typed[1]))


def merge_writes(
    before: Iterable[StoredWrite], more: Iterable[StoredWrite]
) -> list[StoredWrite] | None:
    """Add writes whose index is free; None if there are none: the first ordinary one remains."""
    kept = {each.index: each for each in before}
    added = {each.index: each for each in more if each.index not in kept}
    return [*kept.values(), *added.values()] if added else None


def list_large_keys(heads: Iterable[Head]) -> set[str]:
    """List the keys of all large values of checkpoints."""
    return {key for head in heads for _, key in head.large.values()}

"""The keys of checkpoints among the objects of a space.

All keys of a thread have one prefix. A checkpoint and its writes are stored together, newest first,
since objects are listed by key. Names are hashed, since they may have any length and characters.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from agent_memory.adapters.hashing import hash_id

_MOST_ID_BYTES = 300  # of a checkpoint's id: a key has 1,000 bytes
_HEAD, _WRITES = "c", "w"


@dataclass(frozen=True, slots=True)
class CheckpointKeys:
    """The keys of one checkpoint.

    Attributes:
        place: their prefix.
        has_head: whether the checkpoint itself exists; its writes may be stored before it.
        writes: the keys of its writes.
    """

    place: str
    has_head: bool = False
    writes: list[str] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The key of the checkpoint itself."""
        return f"{self.place}{_HEAD}"

    @property
    def all(self) -> list[str]:
        """The keys of the checkpoint and of its writes."""
        return [*([self.head] if self.has_head else []), *self.writes]

    @property
    def thread(self) -> str:
        """The prefix of the thread."""
        return self.place[: self.place.index("/n/") + 1]

    @property
    def namespace(self) -> str:
        """The prefix of the namespace within the thread."""
        return f"{self.place.rsplit('/', 2)[0]}/"

    @property
    def id(self) -> str:
        """The checkpoint's id."""
        return _decode_id(self.place.rsplit("/", 2)[1])


def build_thread_prefix(thread_id: str) -> str:
    """Build the prefix of all keys of a thread."""
    return f"t/{hash_id(thread_id)}/"


def build_namespace_prefix(thread_id: str, namespace: str | None) -> str:
    """Build the prefix of the keys of checkpoints: of one namespace, or of all for None."""
    checkpoints = f"{build_thread_prefix(thread_id)}n/"
    return checkpoints if namespace is None else f"{checkpoints}{hash_id(namespace)}/"


def build_place(thread_id: str, namespace: str, checkpoint_id: str) -> str:
    """Build the prefix of all keys of a checkpoint.

    Raises:
        ValueError: the id has over 300 bytes.
    """
    return f"{build_namespace_prefix(thread_id, namespace)}{_encode_id(checkpoint_id)}/"


def build_head_key(place: str) -> str:
    """Build the key of a checkpoint itself."""
    return f"{place}{_HEAD}"


def build_writes_key(place: str, task_id: str, index: int | None = None) -> str:
    """Build the key of a task's ordinary writes, or of its special one with a negative index."""
    return f"{place}{_WRITES}/{hash_id(task_id)}{'' if index is None else index}"


def build_value_key(thread_prefix: str) -> str:
    """Build a new key for a large value."""
    return f"{thread_prefix}b/{uuid.uuid4().hex}"


def group_keys(keys: Iterable[str]) -> Iterator[CheckpointKeys]:
    """Group listed keys by checkpoint."""
    for place, group in groupby((key for key in keys if "/n/" in key), _find_place):
        listed = list(group)
        writes = [key for key in listed if not key.endswith(f"/{_HEAD}")]
        yield CheckpointKeys(place, len(writes) < len(listed), writes)


def _find_place(key: str) -> str:
    return "/".join([*key.split("/")[:5], ""])


def _encode_id(checkpoint_id: str) -> str:
    """Encode an id so that later ids sort first."""
    encoded = checkpoint_id.encode()
    if len(encoded) > _MOST_ID_BYTES:
        raise ValueError(f"a checkpoint's id must have at most {_MOST_ID_BYTES} bytes")
    return bytes(255 - byte for byte in encoded).hex() + "z"


def _decode_id(encoded: str) -> str:
    return bytes(255 - byte for byte in bytes.fromhex(encoded[:-1])).decode()

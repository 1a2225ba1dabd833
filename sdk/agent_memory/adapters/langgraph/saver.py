"""LangGraph's checkpointer: checkpoints as objects of the service."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from agent_memory import AsyncClient, Client
from agent_memory.adapters.langgraph.checkpoints import Checkpoints, is_inline
from agent_memory.adapters.langgraph.codec import Codec, Head, list_large_keys
from agent_memory.adapters.langgraph.configs import build_config, get_namespace, get_thread
from agent_memory.adapters.langgraph.delta_history import collect_history
from agent_memory.adapters.langgraph.keys import (
    CheckpointKeys,
    build_place,
    build_thread_prefix,
    build_value_key,
)
from agent_memory.adapters.langgraph.known_heads import KnownHeads
from agent_memory.adapters.langgraph.queries import CheckpointQueries
from agent_memory.adapters.langgraph.retention import select_latest
from agent_memory.adapters.langgraph.threaded_saver import ThreadedSaver
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.conversion import to_sync
from agent_memory.model import Sensitivity


class AgentMemorySaver(ThreadedSaver):
    """LangGraph's checkpoints as objects of the service, for any graph, sync and async.

    A checkpoint is one write, and one more for each value over 8,000 bytes; an unchanged large
    value isn't stored again. Readers see a checkpoint completely or not at all. Checkpoints belong
    to the principal. Any thread and event loop may use it.

    Args:
        client: calls as the principal; stays open.
        root: the prefix of the name of its space of objects; each root has its own threads.
        ttl: the lifetime of each checkpoint, from its write: seconds, a timedelta, or an ISO 8601
            duration. None: until it is deleted.
        compress: whether to compress data if that makes it smaller.
        allowed_types: your classes that a checkpoint may restore, besides those that LangGraph
            knows to be safe. A value of any other class is restored as plain data, and a warning
            names the class: a writer of checkpoints must not choose what your process runs.
        serde: LangGraph's serializer instead of a strict one.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when the client is no client of this package.
        ValueError: raised when there is a slash in `root`.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        root: str = "langgraph",
        ttl: str | float | timedelta | None = None,
        compress: bool = True,
        allowed_types: Iterable[type] = (),
        serde: SerializerProtocol | None = None,
        sensitivity: Sensitivity | None = None,
    ) -> None:
        strict = JsonPlusSerializer(allowed_msgpack_modules=[*allowed_types] or None)
        super().__init__(serde=serde or strict)
        if "/" in root:
            raise ValueError("root must not contain a slash")
        self._compress = compress
        self._storage = ObjectStorage(to_sync(client), root, ttl, sensitivity)
        self._is_sharing = ttl is None  # else a shared value would expire too early
        self._known = KnownHeads()

    @property
    def _codec(self) -> Codec:
        return Codec(self.serde, compress=self._compress)

    @property
    def _checkpoints(self) -> Checkpoints:
        """The checkpoints by the present serializer: `with_allowlist` gives a clone another one."""
        return Checkpoints(self._storage, self._codec)

    @property
    def _queries(self) -> CheckpointQueries:
        return CheckpointQueries(self._checkpoints)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and replace one of the same id.

        Raises:
            MemoryCapacityError: the principal has no room for it.
            TooLargeError: a value is larger than an object may be.
        """
        thread_id, namespace = get_thread(config), get_namespace(config) or ""
        parent = get_checkpoint_id(config)
        place = build_place(thread_id, namespace, checkpoint["id"])
        dump = self.serde.dumps_typed
        rest = {name: each for name, each in checkpoint.items() if name != "channel_values"}
        values = checkpoint["channel_values"]
        head = Head(
            thread_id=thread_id,
            namespace=namespace,
            parent=parent,
            checkpoint=dump(rest),
            metadata=dump(get_serializable_checkpoint_metadata(config, metadata)),
            values={},
            large=self._share(thread_id, namespace, parent, checkpoint, new_versions),
            snapshots=[name for name, each in values.items() if _is_snapshot(each)],
        )
        large: dict[str, tuple[str, bytes]] = {}
        for channel, value in values.items():
            if channel not in head.large:
                typed = dump(value)
                (head.values if is_inline(typed[1]) else large)[channel] = typed
        stored = self._checkpoints.put(place, head, large)
        self._known.add(place, stored.large, checkpoint["channel_versions"])
        return build_config(thread_id, namespace, checkpoint["id"])

    def _share(
        self,
        thread_id: str,
        namespace: str,
        parent: str | None,
        checkpoint: Checkpoint,
        new_versions: ChannelVersions,
    ) -> dict[str, tuple[str, str]]:
        """Find unchanged large values that are stored with the checkpoint's parent."""
        if parent is None or not self._is_sharing:
            return {}
        large, versions = self._known.get(build_place(thread_id, namespace, parent))
        present = checkpoint["channel_versions"]
        return {
            channel: each
            for channel, each in large.items()
            if channel in checkpoint["channel_values"]
            and channel not in new_versions
            and present.get(channel) == versions.get(channel)
        }

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task for a checkpoint, which may be stored later."""
        if writes:
            thread_id, namespace = get_thread(config), get_namespace(config) or ""
            place = build_place(thread_id, namespace, config["configurable"]["checkpoint_id"])
            encoded = self._codec.encode_writes(writes, task_id, task_path)
            self._checkpoints.put_writes(place, task_id, encoded)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint of the config, or else the newest of its namespace."""
        found = self._queries.find(config)
        return None if found is None else self._to_tuple(*found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, newest first: of a thread, or all without a config.

        Args:
            filter: equal fields of the metadata.
            before: only checkpoints older than this one.
            limit: the maximum number.
        """
        end = get_checkpoint_id(before) if before else None
        remaining = limit
        for keys, head, writes in self._checkpoints.read(self._queries.select(config, end)):
            if remaining is not None and remaining <= 0:
                return
            metadata = self._codec.load(head.metadata)
            if all(metadata.get(name) == value for name, value in (filter or {}).items()):
                remaining = None if remaining is None else remaining - 1
                yield self._to_tuple(keys, head, writes)

    def _to_tuple(
        self, keys: CheckpointKeys, head: Head, writes: Sequence[bytes]
    ) -> CheckpointTuple:
        values, rest = self._checkpoints.load_values(head), self._codec.load(head.checkpoint)
        self._known.add(keys.place, head.large, rest["channel_versions"])
        thread_id, namespace, parent = head.thread_id, head.namespace, head.parent
        return CheckpointTuple(
            config=build_config(thread_id, namespace, keys.id),
            checkpoint=cast("Checkpoint", rest | {"channel_values": values}),
            metadata=self._codec.load(head.metadata),
            parent_config=build_config(thread_id, namespace, parent) if parent else None,
            pending_writes=self._codec.decode_writes(writes),
        )

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints and writes of a thread."""
        self._storage.delete_all(build_thread_prefix(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, with their writes, in all threads.

        It reads every checkpoint of the principal. Don't call it while one of the runs continues.
        """
        wanted = set(run_ids)

        def is_kept(heads: Mapping[str, Head]) -> set[str]:
            return {
                place
                for place, head in heads.items()
                if self._codec.load(head.metadata).get("run_id") not in wanted
            }

        threads = {keys.thread for keys in self._checkpoints.list_keys("t/")}
        for thread in sorted(threads):
            self._keep(thread, is_kept)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread to another one, oldest first."""
        source = build_thread_prefix(source_thread_id)
        target = build_thread_prefix(target_thread_id)
        for keys in reversed(list(self._checkpoints.list_keys(f"{source}n/"))):
            for key in keys.writes:
                self._storage.copy(key, target + key.removeprefix(source))
            for _, head, _ in self._checkpoints.read([replace(keys, writes=[])]):
                copied = {
                    name: (type, build_value_key(target)) for name, (type, _) in head.large.items()
                }
                for name, (_, key) in head.large.items():
                    self._storage.copy(key, copied[name][1])
                place = target + keys.place.removeprefix(source)
                self._checkpoints.put(
                    place, replace(head, thread_id=target_thread_id, large=copied), {}
                )

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete checkpoints of threads.

        Args:
            strategy: `keep_latest` keeps the newest of each namespace, and earlier ones that its
                delta channels need; `delete` keeps none.

        Raises:
            ValueError: there is no such strategy.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError("strategy must be keep_latest or delete")
        select = partial(select_latest, codec=self._codec)
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._keep(build_thread_prefix(thread_id), select)

    def _keep(self, thread: str, select: Callable[[Mapping[str, Head]], set[str]]) -> None:
        """Delete the unselected checkpoints of a thread, with their unshared values.

        Large values are deleted last: a reader that has begun finds them, or no checkpoint.
        """
        listed = self._checkpoints.list_keys(f"{thread}n/")
        read = self._checkpoints.read(replace(keys, writes=[]) for keys in listed)
        heads = {keys.place: head for keys, head, _ in read}
        kept = select(heads)
        gone = [place for place in heads if place not in kept]
        large = list_large_keys(heads[place] for place in gone)
        large -= list_large_keys(heads[place] for place in heads if place in kept)
        self._storage.run(self._storage.delete_all, gone)
        self._storage.delete(large)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Collect the writes of channels before a checkpoint, back to their stored values."""
        ancestors = self._queries.walk_back(config)
        return collect_history(ancestors, channels, self._checkpoints, self._codec)


def _is_snapshot(value: Any) -> bool:
    """Tell whether a value ends the history of a delta channel; LangGraph's type is private."""
    return type(value).__name__ == "_DeltaSnapshot"

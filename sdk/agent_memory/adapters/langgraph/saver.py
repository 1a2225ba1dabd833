"""A LangGraph checkpointer that keeps checkpoints in the service (extra `langgraph`).

```python
saver = AgentMemorySaver(Client(api_key="am_..."))
graph = builder.compile(checkpointer=saver)
```
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from threading import Lock
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from agent_memory import Client
from agent_memory.adapters.clients import assert_client
from agent_memory.adapters.langgraph.checkpoints import Checkpoints, is_inline
from agent_memory.adapters.langgraph.codec import Codec, Head, list_large_keys
from agent_memory.adapters.langgraph.keys import (
    CheckpointKeys,
    build_namespace_prefix,
    build_place,
    build_thread_prefix,
    build_value_key,
)
from agent_memory.adapters.object_storage import ObjectStorage, to_seconds

_Writes = list[PendingWrite]
_REMEMBERED = 1000  # checkpoints whose large values a later one may share


class AgentMemorySaver(BaseCheckpointSaver[int]):
    """LangGraph's checkpoints as objects of the service, for any graph, sync and async.

    A checkpoint is one write, and one more for each value of over 8,000 bytes, up to 100 MB; such a
    value that a step leaves as it is isn't stored again. Readers see a checkpoint whole or not at
    all. They are the principal's own. It may be used from any thread and event loop.

    Args:
        client: calls as the principal; stays open.
        root: what the name of its space of objects begins with: another root, other threads.
        ttl: how long each checkpoint is kept, from its write: seconds, a timedelta, or an ISO 8601
            duration. None: until it is deleted.
        compress: whether what is stored is compressed where that makes it smaller.
        serde: LangGraph's serializer; its own one by default.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when the client isn't a `Client`.
        ValueError: raised when there is a slash in `root`.
    """

    def __init__(
        self,
        client: Client,
        *,
        root: str = "langgraph",
        ttl: float | str | timedelta | None = None,
        compress: bool = True,
        serde: SerializerProtocol | None = None,
        sensitivity: str | None = None,
    ) -> None:
        super().__init__(serde=serde)
        assert_client(client, Client)
        if "/" in root:
            raise ValueError("root holds no slash")
        self._compress = compress
        self._storage = ObjectStorage(client, root, to_seconds(ttl), sensitivity)
        self._is_sharing = ttl is None  # else a shared value would expire before who shares it
        self._known = _KnownHeads()

    @property
    def _codec(self) -> Codec:
        return Codec(self.serde, compress=self._compress)

    @property
    def _checkpoints(self) -> Checkpoints:
        """The checkpoints by the present serializer: `with_allowlist` gives a clone another one."""
        return Checkpoints(self._storage, self._codec)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, in place of one of the same id.

        Raises:
            MemoryCapacityError: the principal has no room for it.
            TooLargeError: a value has over 100 MB.
        """
        thread_id, namespace = _get_thread(config), _get_namespace(config) or ""
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
        return _build_config(thread_id, namespace, checkpoint["id"])

    def _share(
        self,
        thread_id: str,
        namespace: str,
        parent: str | None,
        checkpoint: Checkpoint,
        new_versions: ChannelVersions,
    ) -> dict[str, tuple[str, str]]:
        """Find the large values that are stored with the checkpoint's parent, and unchanged."""
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
        """Store the writes of a task beside a checkpoint, which may come later."""
        if writes:
            thread_id, namespace = _get_thread(config), _get_namespace(config) or ""
            place = build_place(thread_id, namespace, config["configurable"]["checkpoint_id"])
            encoded = self._codec.encode_writes(writes, task_id, task_path)
            self._checkpoints.put_writes(place, task_id, encoded)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or else the newest of its namespace."""
        found = self._find(config)
        return None if found is None else self._to_tuple(*found)

    def _find(self, config: RunnableConfig) -> tuple[CheckpointKeys, Head, Sequence[bytes]] | None:
        thread_id, namespace = _get_thread(config), _get_namespace(config) or ""
        wanted = get_checkpoint_id(config)
        if wanted:
            prefix = build_place(thread_id, namespace, wanted)
        else:
            prefix = build_namespace_prefix(thread_id, namespace)
        listed = self._checkpoints.list_keys(prefix, is_newest_wanted=True)
        for keys in listed:
            if keys.has_head:
                for found in self._checkpoints.read([keys]):
                    return found
        return None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the newest first: those of a thread, or all of them without a config.

        Args:
            filter: equal fields of the metadata.
            before: only those older than the checkpoint that it names.
            limit: how many at most.
        """
        end = get_checkpoint_id(before) if before else None
        remaining = limit
        for keys, head, writes in self._checkpoints.read(self._select(config, end)):
            if remaining is not None and remaining <= 0:
                return
            metadata = self._codec.load(head.metadata)
            if all(metadata.get(name) == value for name, value in (filter or {}).items()):
                remaining = None if remaining is None else remaining - 1
                yield self._to_tuple(keys, head, writes)

    def _select(self, config: RunnableConfig | None, end: str | None) -> Iterator[CheckpointKeys]:
        """Yield the keys of the checkpoints that a config means, the newest first."""
        namespace = _get_namespace(config) if config else None
        prefix = build_namespace_prefix(_get_thread(config), namespace) if config else "t/"
        listed = self._checkpoints.list_keys(prefix)
        if namespace is None:
            listed = _sort(listed)
        wanted = get_checkpoint_id(config) if config else None
        for keys in listed:
            if keys.has_head and wanted in (None, keys.id) and (end is None or keys.id < end):
                yield keys

    def _to_tuple(
        self, keys: CheckpointKeys, head: Head, writes: Sequence[bytes]
    ) -> CheckpointTuple:
        values, rest = self._checkpoints.load_values(head), self._codec.load(head.checkpoint)
        self._known.add(keys.place, head.large, rest["channel_versions"])
        thread_id, namespace, parent = head.thread_id, head.namespace, head.parent
        return CheckpointTuple(
            config=_build_config(thread_id, namespace, keys.id),
            checkpoint=cast("Checkpoint", rest | {"channel_values": values}),
            metadata=self._codec.load(head.metadata),
            parent_config=_build_config(thread_id, namespace, parent) if parent else None,
            pending_writes=self._codec.decode_writes(writes),
        )

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints and writes of a thread."""
        self._storage.delete_all(build_thread_prefix(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of runs, with their writes, in all threads.

        It reads every checkpoint of the principal. Don't call it while one of the runs goes on.
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
        """Copy all checkpoints and writes of a thread to another one, the oldest first."""
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
        """Delete checkpoints of threads, and free what they take.

        Args:
            strategy: `keep_latest` keeps the newest of each namespace, and those before it from
                which its delta channels are rebuilt; `delete` keeps none.

        Raises:
            ValueError: there is no such strategy.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError("strategy is keep_latest or delete")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._keep(build_thread_prefix(thread_id), self._select_latest)

    def _select_latest(self, heads: Mapping[str, Head]) -> set[str]:
        """Select the newest checkpoint of each namespace, and the ancestors that it needs."""
        kept: set[str] = set()
        seen: set[str] = set()
        for place, head in heads.items():
            namespace = CheckpointKeys(place).namespace
            if namespace not in seen:
                seen.add(namespace)
                kept |= {place, *self._select_needed(head, heads)}
        return kept

    def _select_needed(self, head: Head, heads: Mapping[str, Head]) -> set[str]:
        """Select the ancestors back to those that hold what the head's delta channels lack."""
        counted = self._codec.load(head.metadata).get("counters_since_delta_snapshot") or {}
        path = list(_walk(head, heads))
        needed = 0
        for channel in {*counted, *(name for _, each in path for name in each.snapshots)}:
            if not head.has_value(channel):
                holders = [at for at, (_, each) in enumerate(path) if each.has_value(channel)]
                ends = holders[0] + 1 if holders else len(path)
                is_delta = channel in counted or channel in path[ends - 1][1].snapshots
                needed = max(needed, ends if is_delta else 0)
        return {place for place, _ in path[:needed]}

    def _keep(self, thread: str, select: Callable[[Mapping[str, Head]], set[str]]) -> None:
        """Delete the checkpoints of a thread that aren't selected, and what only they have.

        Their large values go last: a reader that has begun finds them, or the checkpoint gone.
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
        """Collect the writes of channels before a checkpoint, back to where their values are."""
        writes: dict[str, _Writes] = {channel: [] for channel in channels}
        seeds: dict[str, Any] = {}
        remaining = set(channels)
        for head, packed in self._walk_back(config) if channels else ():
            for write in reversed(self._codec.decode_writes(packed)):
                if write[1] in remaining:
                    writes[write[1]].append(write)
            there = {channel for channel in remaining if head.has_value(channel)}
            seeds |= self._checkpoints.load_values(head, there)
            remaining -= there
            if not remaining:
                break
        return {channel: _build_history(writes[channel], channel, seeds) for channel in channels}

    def _walk_back(self, config: RunnableConfig) -> Iterator[tuple[Head, Sequence[bytes]]]:
        """Yield the ancestors of a checkpoint, the nearest first, with their writes."""
        found = self._find(config)
        if found is None or found[1].parent is None:
            return
        thread_id, namespace = found[1].thread_id, found[1].namespace
        parent: str | None = found[1].parent
        older = self._select(_build_config(thread_id, namespace, None), found[0].id)
        for keys, head, writes in self._checkpoints.read(older):
            if keys.id == parent:
                yield head, writes
                parent = head.parent

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as `put` does, in a thread."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store writes as `put_writes` does, in a thread."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint as `get_tuple` does, in a thread."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints as `list` does, in threads."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (each := await asyncio.to_thread(next, found, None)) is not None:
            yield each

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread as `delete_thread` does, in a thread."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete runs as `delete_for_runs` does, in a thread."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread as `copy_thread` does, in a thread."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Prune threads as `prune` does, in a thread."""
        await asyncio.to_thread(self.prune, thread_ids, strategy=strategy)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Collect a history as `get_delta_channel_history` does, in a thread."""
        return await asyncio.to_thread(
            self.get_delta_channel_history, config=config, channels=channels
        )


class _KnownHeads:
    """Where the large values of the latest checkpoints are, so that later ones share them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._heads: OrderedDict[str, tuple[dict[str, tuple[str, str]], ChannelVersions]]
        self._heads = OrderedDict()

    def add(self, place: str, large: dict[str, tuple[str, str]], versions: ChannelVersions) -> None:
        with self._lock:
            self._heads[place] = (dict(large), dict(versions))
            if len(self._heads) > _REMEMBERED:
                self._heads.popitem(last=False)

    def get(self, place: str) -> tuple[dict[str, tuple[str, str]], ChannelVersions]:
        with self._lock:
            return self._heads.get(place, ({}, {}))


def _get_thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _get_namespace(config: RunnableConfig) -> str | None:
    namespace: str | None = config["configurable"].get("checkpoint_ns")
    return namespace


def _build_config(thread_id: str, namespace: str, checkpoint_id: str | None) -> RunnableConfig:
    named = {} if checkpoint_id is None else {"checkpoint_id": checkpoint_id}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, **named}}


def _is_snapshot(value: Any) -> bool:
    """Tell whether a value ends the history of a delta channel; LangGraph's type is private."""
    return type(value).__name__ == "_DeltaSnapshot"


def _sort(listed: Iterable[CheckpointKeys]) -> Iterator[CheckpointKeys]:
    """Sort the checkpoints of several namespaces, the newest first."""
    return iter(sorted(listed, key=lambda each: each.id, reverse=True))


def _walk(head: Head, heads: Mapping[str, Head]) -> Iterator[tuple[str, Head]]:
    """Yield the ancestors of a checkpoint that there are, the nearest first."""
    while head.parent is not None:
        place = build_place(head.thread_id, head.namespace, head.parent)
        if place not in heads:
            return
        head = heads[place]
        yield place, head


def _build_history(writes: _Writes, channel: str, seeds: Mapping[str, Any]) -> DeltaChannelHistory:
    history: DeltaChannelHistory = {"writes": writes[::-1]}
    if channel in seeds:
        history["seed"] = seeds[channel]
    return history

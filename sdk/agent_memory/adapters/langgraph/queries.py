"""Find the checkpoints of a configuration."""

from collections.abc import Iterable, Iterator, Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id

from agent_memory.adapters.langgraph.checkpoints import Checkpoints
from agent_memory.adapters.langgraph.codec import Head
from agent_memory.adapters.langgraph.configs import build_config, get_namespace, get_thread
from agent_memory.adapters.langgraph.keys import (
    CheckpointKeys,
    build_namespace_prefix,
    build_place,
)

Found = tuple[CheckpointKeys, Head, Sequence[bytes]]


class CheckpointQueries:
    """Finds checkpoints by LangGraph's configurations."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints

    def find(self, config: RunnableConfig) -> Found | None:
        """Find the checkpoint of a config, or else the newest of its namespace."""
        thread_id, namespace = get_thread(config), get_namespace(config) or ""
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

    def select(self, config: RunnableConfig | None, end: str | None) -> Iterator[CheckpointKeys]:
        """Yield the keys of a config's checkpoints, newest first."""
        namespace = get_namespace(config) if config else None
        prefix = build_namespace_prefix(get_thread(config), namespace) if config else "t/"
        listed = self._checkpoints.list_keys(prefix)
        if namespace is None:
            listed = _sort(listed)
        wanted = get_checkpoint_id(config) if config else None
        for keys in listed:
            if keys.has_head and wanted in (None, keys.id) and (end is None or keys.id < end):
                yield keys

    def walk_back(self, config: RunnableConfig) -> Iterator[tuple[Head, Sequence[bytes]]]:
        """Yield the ancestors of a checkpoint, nearest first, with their writes."""
        found = self.find(config)
        if found is None or found[1].parent is None:
            return
        thread_id, namespace = found[1].thread_id, found[1].namespace
        parent: str | None = found[1].parent
        older = self.select(build_config(thread_id, namespace, None), found[0].id)
        for keys, head, writes in self._checkpoints.read(older):
            if keys.id == parent:
                yield head, writes
                parent = head.parent


def _sort(listed: Iterable[CheckpointKeys]) -> Iterator[CheckpointKeys]:
    """Sort the checkpoints of several namespaces, the newest first."""
    return iter(sorted(listed, key=lambda each: each.id, reverse=True))

"""Select the checkpoints of a thread that pruning keeps."""

from collections.abc import Iterator, Mapping

from agent_memory.adapters.langgraph.codec import Codec, Head
from agent_memory.adapters.langgraph.keys import CheckpointKeys, build_place


def select_latest(heads: Mapping[str, Head], codec: Codec) -> set[str]:
    """Select the newest checkpoint of each namespace, and the ancestors that it needs."""
    kept: set[str] = set()
    seen: set[str] = set()
    for place, head in heads.items():
        namespace = CheckpointKeys(place).namespace
        if namespace not in seen:
            seen.add(namespace)
            kept |= {place, *_select_needed(head, heads, codec)}
    return kept


def _select_needed(head: Head, heads: Mapping[str, Head], codec: Codec) -> set[str]:
    """Select the ancestors back to the stored values of the head's delta channels."""
    counted = codec.load(head.metadata).get("counters_since_delta_snapshot") or {}
    path = list(_walk(head, heads))
    needed = 0
    for channel in {*counted, *(name for _, each in path for name in each.snapshots)}:
        if not head.has_value(channel):
            holders = [at for at, (_, each) in enumerate(path) if each.has_value(channel)]
            ends = holders[0] + 1 if holders else len(path)
            is_delta = channel in counted or channel in path[ends - 1][1].snapshots
            needed = max(needed, ends if is_delta else 0)
    return {place for place, _ in path[:needed]}


def _walk(head: Head, heads: Mapping[str, Head]) -> Iterator[tuple[str, Head]]:
    """Yield the existing ancestors of a checkpoint, nearest first."""
    while head.parent is not None:
        place = build_place(head.thread_id, head.namespace, head.parent)
        if place not in heads:
            return
        head = heads[place]
        yield place, head

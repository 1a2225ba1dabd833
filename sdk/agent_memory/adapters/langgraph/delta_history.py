"""The history of delta channels: writes before a checkpoint, back to their stored values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.base import DeltaChannelHistory, PendingWrite

from agent_memory.adapters.langgraph.checkpoints import Checkpoints
from agent_memory.adapters.langgraph.codec import Codec, Head

_Writes = list[PendingWrite]


def collect_history(
    ancestors: Iterable[tuple[Head, Sequence[bytes]]],
    channels: Sequence[str],
    checkpoints: Checkpoints,
    codec: Codec,
) -> Mapping[str, DeltaChannelHistory]:
    """Collect the writes of channels, back to the nearest ancestor that has their values.

    Args:
        ancestors: of a checkpoint, nearest first, with their writes.
        channels: the delta channels.
    """
    writes: dict[str, _Writes] = {channel: [] for channel in channels}
    seeds: dict[str, Any] = {}
    remaining = set(channels)
    for head, packed in ancestors if channels else ():
        for write in reversed(codec.decode_writes(packed)):
            if write[1] in remaining:
                writes[write[1]].append(write)
        there = {channel for channel in remaining if head.has_value(channel)}
        seeds |= checkpoints.load_values(head, there)
        remaining -= there
        if not remaining:
            break
    return {channel: _build_history(writes[channel], channel, seeds) for channel in channels}


def _build_history(writes: _Writes, channel: str, seeds: Mapping[str, Any]) -> DeltaChannelHistory:
    history: DeltaChannelHistory = {"writes": writes[::-1]}
    if channel in seeds:
        history["seed"] = seeds[channel]
    return history

"""How entries and runs look as items."""

from functions.openwop.model import MemoryEntry, Run
from functions.openwop.rules import GRACE
from functions.platform.items import Item
from functions.platform.keys import due_shard
from functions.platform.lifetimes import ttl_seconds
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.snapshot_keys import entry_id, moment_of_position, position_of
from functions.platform.values import pack, unpack

_DAY = 86_400_000  # ms


def new_entry(
    position: int,
    luck: str,
    content: str,
    tags: tuple[str, ...],
    expires: int | None,
    request: bytes | None,
) -> MemoryEntry:
    """The entry that a put makes at a position."""
    return MemoryEntry(
        position=position,
        luck=luck,
        content=content,
        tags=tags,
        id=entry_id(position, luck),
        created=moment_of_position(position),
        expires=expires,
        request=request,
    )


def entry_attributes(entry: MemoryEntry, partition: str) -> Item:
    """The item of an entry, without its key."""
    return {
        "luck": entry.luck,
        "val": pack(entry.content.encode()),
        "tags": tuple(entry.tags) or None,
        "ends": entry.expires,
        "req": entry.request,
        TTL_ATTRIBUTE: ttl_seconds(entry.expires),
        DUE_ATTRIBUTE: entry.expires,
        DUE_SHARD_ATTRIBUTE: None if entry.expires is None else due_shard(partition),
    }


def entry_of(item: Item) -> MemoryEntry:
    """The entry of an item."""
    position, luck = position_of(item["sk"]), item["luck"]
    return MemoryEntry(
        position=position,
        luck=luck,
        content=unpack(item["val"]).decode(),
        tags=tuple(item.get("tags", ())),
        id=entry_id(position, luck),
        created=moment_of_position(position),
        expires=item.get("ends"),
        gone=item.get("gone"),
        request=item.get("req"),
    )


def run_attributes(run: Run, request: bytes) -> Item:
    """The item of a run, without its key; kept a day longer, to tell that the run is over."""
    return {
        "at_pos": run.position,
        "deadline": run.deadline,
        "on_secret": run.on_secret,
        "req": request,
        TTL_ATTRIBUTE: ttl_seconds(run.deadline + _DAY),
    }


def run_of(run_id: str, item: Item) -> Run:
    """The run of an item."""
    return Run(
        id=run_id,
        position=item["at_pos"],
        deadline=item["deadline"],
        on_secret=item["on_secret"],
        ended=item.get("ended", False),
    )


def hold_attributes(run: Run) -> Item:
    """The row of an open run, without its key."""
    return {
        "run": run.id,
        "deadline": run.deadline,
        TTL_ATTRIBUTE: ttl_seconds(run.deadline + GRACE),
    }

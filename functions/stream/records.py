"""Stream records, read as what became of entries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.platform import item_types
from functions.platform.entry_keys import build_entry_prefix
from functions.platform.items import Item, TypedItem, decode_item
from functions.platform.keys import Key, get_tenant

Record = Mapping[str, Any]

_CLOSED = EntryMapper(None)  # values aren't needed, sealed ones can't be opened here
_ENTRIES = build_entry_prefix(None)


@dataclass(frozen=True, slots=True)
class Source:
    """Which record it is (`sequence` is its name in the stream), and of which item."""

    sequence: str
    key: Key

    @property
    def number(self) -> int:
        """What records of an item are ordered by."""
        return int(self.sequence)

    @property
    def tenant(self) -> str:
        return get_tenant(self.key[0])


@dataclass(frozen=True, slots=True)
class Change:
    """One write of an entry, or of an announcement that a task's memory was archived."""

    source: Source
    old: Entry | None = None
    new: Entry | None = None
    announced: Item | None = None

    @property
    def gone(self) -> Entry | None:
        """The entry that was removed, with nothing in its place."""
        return self.old if self.new is None else None


def source_of(record: Record) -> Source:
    """Where a record comes from."""
    keys = record["dynamodb"]["Keys"]
    return Source(record["dynamodb"]["SequenceNumber"], (keys["pk"]["S"], keys["sk"]["S"]))


def is_of_interest(key: Key) -> bool:
    """Whether what stands at this key is told of or counted."""
    return is_told_of(key) or item_types.EPISODE.has_sort(key[1])


def is_told_of(key: Key) -> bool:
    """Whether what stands at this key is an entry or an announcement."""
    return key[1].startswith((_ENTRIES, item_types.ANNOUNCEMENT.sort_prefix))


def is_new_episode(key: Key, record: Record) -> bool:
    """Whether a record, which is of this key, tells of an episode that was appended."""
    return item_types.EPISODE.has_sort(key[1]) and record["eventName"] == "INSERT"


def change_of(source: Source, record: Record) -> Change:
    """The change that a record tells of.

    Raises:
        Exception: the record is no such thing.
    """
    old, new = (record["dynamodb"].get(name) for name in ("OldImage", "NewImage"))
    if item_types.ANNOUNCEMENT.has_sort(source.key[1]):
        return Change(source, announced=decode_item(new) if new and not old else None)
    return Change(source, _entry(old), _entry(new))


def _entry(image: TypedItem | None) -> Entry | None:
    return _CLOSED.to_entry(decode_item(image)) if image else None

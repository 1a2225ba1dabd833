"""Store earlier versions of entries, each as one item (CONTRACT3 section 15).

The item of a version has the attributes of the entry's item, so a sensitive value stays encrypted
under the entry's id. Its key has the time when the version was superseded: reading the version of a
time is one call.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from functions.entries.mapper import EntryMapper, select_history_attributes
from functions.entries.model import Entry
from functions.entries.tiers import POLICIES, Tier
from functions.platform import entry_keys, item_types
from functions.platform.clock import to_ttl_seconds
from functions.platform.entry_keys import EntryAddress
from functions.platform.items import Item
from functions.platform.keys import HIGHEST, Key, encode_timestamp
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import delete, put

_READ_TOGETHER = 20  # versions of an entry


class HistoryStore:
    """Reads, writes and removes earlier versions."""

    def __init__(self, table: Table, mapper: EntryMapper) -> None:
        self._table = table
        self._mapper = mapper

    def get_items(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """Read entries, and the settings of their history: a call per hundred."""
        return self._table.get_many(keys)

    def put(self, versions: Iterable[tuple[Key, Item, int, int]]) -> None:
        """Store versions that were superseded; storing one again changes nothing.

        Args:
            versions: for each, the entry's key, the superseded item, and the times (epoch ms) when
                it was superseded and when it expires.
        """
        writes = [
            put(
                build_version_key(key, item, superseded),
                select_history_attributes(item)
                | {"superseded_at": superseded, TTL_ATTRIBUTE: to_ttl_seconds(ends)},
            )
            for key, item, superseded, ends in versions
        ]
        self._table.write_many(writes)

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove versions by their keys: a call per 25."""
        self._table.write_many(list(map(delete, keys)))

    def list_keys(self, address: EntryAddress, nonce: str) -> list[Key]:
        """Return the keys of all versions of an entry."""
        partition, prefix = _build_range(address, nonce)
        return [(row["pk"], row["sk"]) for row in self._table.query(partition, prefix)]

    def iterate(self, entry: Entry, before: str | None = None) -> Iterator[Entry]:
        """Read the earlier versions of an entry, newest first.

        Args:
            before: the position of the version to begin after.
        """
        partition, prefix = _build_range(entry.address, entry.nonce)
        last = prefix + (HIGHEST if before is None else before)
        rows = self._table.query(partition, prefix, last, _READ_TOGETHER, newest_first=True)
        return (self._to_entry(entry, row) for row in rows if row["sk"] != last)

    def find_at(self, entry: Entry, time: int) -> Entry | None:
        """Read the version that was in force at a time before the present one: one call."""
        partition, prefix = _build_range(entry.address, entry.nonce)
        first = f"{prefix}{encode_timestamp(time + 1)}"
        rows = self._table.query(partition, first, prefix + HIGHEST, 1)
        found = next((self._to_entry(entry, row) for row in islice(rows, 1)), None)
        return None if found is None or found.updated_at > time else found

    def _to_entry(self, entry: Entry, row: Item) -> Entry:
        partition, sort = entry.item_key
        version = int(row["sk"].rpartition("#")[2])
        bound = {"pk": partition, "sk": sort, "nonce": entry.nonce, "version": version}
        return self._mapper.to_entry(row | bound)


def build_version_key(entry_key: Key, item: Item, superseded: int) -> Key:
    """Build the key of a version from the key and the item of its entry."""
    tier: Tier = item["memory_type"]
    address = entry_keys.parse_entry_key(entry_key, POLICIES[tier].id_letter)
    partition, prefix = _build_range(address, item["nonce"])
    return partition, f"{prefix}{get_position(superseded, item['version'])}"


def get_position(superseded: int, version: int) -> str:
    """Return a version's position: the time when it was superseded (epoch ms), and its number."""
    return f"{encode_timestamp(superseded)}#{version:010d}"


def _build_range(address: EntryAddress, nonce: str) -> tuple[str, str]:
    """Build the partition of an entry's versions, and the prefix of their sort keys."""
    names = {"owner": address.owner, "entry": f"{address.namespace}{address.key}{nonce}"}
    return item_types.ENTRY_VERSION.build_range(address.tenant, **names)

"""The vectors of entries, and the progress of embedding them again: one item."""

from collections.abc import Iterable

from functions.entries.model import Entry
from functions.platform.item_types import AGENT_VECTOR, EMBEDDING, PRIVATE_ENTRY
from functions.platform.items import Item
from functions.platform.keys import Key, build_due_attributes
from functions.platform.table import Store
from functions.platform.writes import put, update

_KEY = EMBEDDING.build_key()
_SCANNED = 250  # items of one scan
_IS_EMBEDDED = (
    "begins_with(sk, :entry) OR begins_with(sk, :vector) AND attribute_exists(learned_by)"
)
_PREFIXES = {"entry": PRIVATE_ENTRY.sort_prefix, "vector": AGENT_VECTOR.sort_prefix}


class EntryVectors(Store):
    """The vectors of entries, each with the version of its entry."""

    def read(self, entries: Iterable[Entry]) -> dict[str, Item]:
        """Read the items of vectors, by the ids of their entries: a call per hundred."""
        found = self._table.get_many(map(_build_key, entries))
        return {AGENT_VECTOR.parse(sort): item for (_, sort), item in found.items()}

    def put(self, entry: Entry, item: Item) -> None:
        """Put the item of a vector, unless a newer version is there: one write."""
        not_newer = "attribute_not_exists(pk) OR version <= :version"
        write = put(_build_key(entry), item, not_newer, version=item["version"])
        self._table.try_write(write)

    def raise_version(self, entry: Entry) -> None:
        """Note that a vector is that of a newer version, too, whose text is the same: one write."""
        key, version = _build_key(entry), entry.version
        expression, is_older = "SET version = :version", "version < :version"
        self._table.try_write(update(key, expression, is_older, version=version))

    def put_new(self, items: Iterable[tuple[Entry, Item]]) -> None:
        """Put the items of new entries' vectors: a call per 25."""
        self._table.write_many([put(_build_key(entry), item) for entry, item in items])


def _build_key(entry: Entry) -> Key:
    return AGENT_VECTOR.build_key_in(entry.address.vector_space, ref=entry.id)


class EmbeddingProgress(Store):
    """The item with the format of all vectors, and the progress of re-embedding."""

    def get(self) -> Item | None:
        """Get the item; None if no setting has ever chosen a format."""
        return self._table.get(_KEY)

    def start(self, format_name: str, due: int | None) -> None:
        """Start a pass for a format, due at a time (epoch ms), or never."""
        item: Item = {"vector_format": format_name, "pages": 0, "is_last": False}
        self._table.put(put(_KEY, item | build_due_attributes(_KEY[0], due)))

    def save(self, progress: Item, previous: Item, due: int | None) -> bool:
        """Save progress; return False if another process has saved some since `previous`."""
        seen = {"vector_format": previous["vector_format"], "pages": previous["pages"]}
        item = {name: progress.get(name) for name in ("vector_format", "pages", "is_last", "after")}
        item |= build_due_attributes(_KEY[0], due)
        condition = "vector_format = :vector_format AND pages = :pages"
        return self._table.try_write(put(_KEY, item, condition, **seen))

    def scan_embedded(self, after: Key | None) -> tuple[list[Item], Key | None]:
        """Scan a page of the table for entries and facts; return the begin of the next page."""
        return self._table.scan(after, _SCANNED, _IS_EMBEDDED, **_PREFIXES)

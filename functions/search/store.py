"""The progress of re-embedding: one item, and the scan of the table for what is embedded."""

from functions.platform.item_types import AGENT_VECTOR, EMBEDDING, PRIVATE_ENTRY
from functions.platform.items import Item
from functions.platform.keys import Key, build_due_attributes
from functions.platform.table import Store
from functions.platform.writes import put

_KEY = EMBEDDING.build_key()
_SCANNED = 250  # items of one scan
_IS_EMBEDDED = (
    "begins_with(sk, :entry) OR begins_with(sk, :vector) AND attribute_exists(learned_by)"
)
_PREFIXES = {"entry": PRIVATE_ENTRY.sort_prefix, "vector": AGENT_VECTOR.sort_prefix}


class EmbeddingProgress(Store):
    """The item that says in which format all vectors are, and how far re-embedding is."""

    def get(self) -> Item | None:
        """Get the item; None where no setting has ever chosen a format."""
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
        """Scan a page of the table for entries and facts; give where the next page begins."""
        return self._table.scan(after, _SCANNED, _IS_EMBEDDED, **_PREFIXES)

"""The schedule's access to the table: due items, and the progress of re-embedding."""

from collections.abc import Iterator
from itertools import islice

from functions.platform.clock import Clock
from functions.platform.entry_keys import EMBEDDING_KEY
from functions.platform.item_types import AGENT_VECTOR, PRIVATE_ENTRY
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.schema import BY_DUE, DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put, update

_POSTPONED = 3_600_000  # ms, for what can't be done now: a capacity below the pinned entries
_SCANNED = 250  # items of one scan
_IS_EMBEDDED = "begins_with(sk, :entry) OR begins_with(sk, :vector) AND attribute_exists(fact_id)"
_PREFIXES = {"entry": PRIVATE_ENTRY.sort_prefix, "vector": AGENT_VECTOR.sort_prefix}


class DueIndex:
    """Reads the items that are due, and updates when agents are."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def read_shard(self, shard: str, now: int) -> Iterator[list[Item]]:
        """Read a shard's items due by `now` (epoch ms), longest due first: a call per hundred.

        The index may lag behind the table, so items that are no longer due are left out.
        """
        rows = self._table.query_range(
            BY_DUE, shard, DUE_ATTRIBUTE, now, attribute=DUE_SHARD_ATTRIBUTE
        )
        while keys := [(row["pk"], row["sk"]) for row in islice(rows, MAX_GET_ITEMS)]:
            found = self._table.get_many(keys)
            items = [found[key] for key in keys if key in found]
            yield [item for item in items if item.get(DUE_ATTRIBUTE, now + 1) <= now]

    def complete_agent(self, agent: Item) -> None:
        """Make an agent's item due no more, unless it is over its capacity or due anew."""
        key, due = (agent["pk"], agent["sk"]), agent[DUE_ATTRIBUTE]
        expression = f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}"
        condition = "due = :due AND (attribute_not_exists(ep_room) OR ep_room >= :zero)"
        try:
            self._table.update(update(key, expression, condition, due=due, zero=0))
        except ConditionFailed as failed:
            if failed.item is not None and failed.item.get(DUE_ATTRIBUTE) == due:
                self.postpone_agent(agent)

    def postpone_agent(self, agent: Item) -> None:
        """Make an agent's item due in an hour, unless it is due anew."""
        key, due = (agent["pk"], agent["sk"]), agent[DUE_ATTRIBUTE]
        later = self._clock() + _POSTPONED
        try:
            self._table.update(update(key, "SET due = :later", "due = :due", due=due, later=later))
        except ConditionFailed:
            return


class EmbeddingProgress:
    """The item that says in which format all vectors are, and how far re-embedding is."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> Item | None:
        """Get the item; None where no setting has ever chosen a format."""
        return self._table.get(EMBEDDING_KEY)

    def start(self, format_name: str, due: int | None) -> None:
        """Start a pass for a format, due at a time (epoch ms), or never."""
        item: Item = {"vector_format": format_name, "pages": 0, "is_last": False}
        self._table.put(put(EMBEDDING_KEY, item | _due_at(due)))

    def save(self, progress: Item, previous: Item, due: int | None) -> bool:
        """Save progress; tell whether nobody else has come as far since `previous`."""
        seen = {"vector_format": previous["vector_format"], "pages": previous["pages"]}
        item = {name: progress.get(name) for name in ("vector_format", "pages", "is_last", "after")}
        condition = "vector_format = :vector_format AND pages = :pages"
        try:
            self._table.put(put(EMBEDDING_KEY, item | _due_at(due), condition, **seen))
        except ConditionFailed:
            return False
        return True

    def scan_embedded(self, after: Key | None) -> tuple[list[Item], Key | None]:
        """Scan a page of the table for entries and facts; give where the next page begins."""
        return self._table.scan(after, _SCANNED, _IS_EMBEDDED, **_PREFIXES)


def _due_at(due: int | None) -> Item:
    if due is None:
        return {}
    return {DUE_ATTRIBUTE: due, DUE_SHARD_ATTRIBUTE: get_due_shard(EMBEDDING_KEY[0])}

"""Reads of entries, and the one write that needs no transaction."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

from functions.entries.items import EntryItems
from functions.entries.model import Entry, Filters
from functions.platform import entry_keys, task_keys
from functions.platform.items import Item, as_it_is, decode_item
from functions.platform.keys import Key
from functions.platform.schema import (
    AGE_ATTRIBUTE,
    BY_AGE,
    BY_EXPIRY,
    BY_RECENCY,
    BY_TASK,
    EXPIRY_ATTRIBUTE,
    TASK_ATTRIBUTE,
)
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, update

_ENDS_AT_ONCE = 4  # of an index, to find its first entry that stands; a few may have expired


class EntryStore:
    """Reads entries, index rows and counters, strongly consistent unless it says otherwise."""

    def __init__(self, table: Table, items: EntryItems) -> None:
        self._table = table
        self._items = items
        self._entries = table.read_by(items.entry)
        self._typed = table.read_by(as_it_is)

    def get(self, place: Key) -> Entry | None:
        """One entry: one read."""
        return self._entries.get(place)

    def get_with(self, place: Key, *others: Key) -> tuple[Entry | None, list[Item | None]]:
        """One entry and other items beside it: one call."""
        found = self._typed.get_many((place, *others))
        entry = self._items.entry(found[place]) if place in found else None
        return entry, [decode_item(found[each]) if each in found else None for each in others]

    def get_many(self, places: Iterable[Key]) -> dict[Key, Entry]:
        """The entries that exist among these."""
        return self._entries.get_many(places)

    def update(self, write: Write) -> Entry:
        """Carries out one update.

        Raises:
            functions.platform.table.ConditionFailed: the condition did not hold.
        """
        return self._entries.update(write)

    def entry(self, item: Item) -> Entry:
        """The entry of an item that a refusal brought."""
        return self._items.entry_of(item)

    def of_agent(self, tenant: str, agent: str, filters: Filters, now: int) -> list[Entry]:
        """An agent's private entries that match: a call per megabyte that it has."""
        condition, values = _condition(filters)
        partition = entry_keys.build_agent_partition(tenant, agent)
        prefix = entry_keys.build_entry_prefix(filters.namespace)
        found = self._entries.query(partition, prefix, condition=condition, **values)
        return [entry for entry in found if not entry.expired(now)]

    def of_task(self, tenant: str, task: str) -> list[Entry]:
        """The entries that end with a task; the index that lists them may lag behind."""
        rows = self._table.query_index(
            BY_TASK, TASK_ATTRIBUTE, task_keys.build_task_key(tenant, task)[0]
        )
        return list(self.get_many((row["pk"], row["sk"]) for row in rows).values())

    def expired_of_agent(self, tenant: str, agent: str, now: int) -> list[Entry]:
        """An agent's entries that have expired but still stand; found by an index."""
        partition = entry_keys.build_agent_partition(tenant, agent)
        rows = self._table.query_range(BY_EXPIRY, partition, EXPIRY_ATTRIBUTE, now)
        entries = self.get_many((row["pk"], row["sk"]) for row in rows).values()
        return [entry for entry in entries if entry.expired(now)]

    def victims(self, tenant: str, agent: str, wanted: int) -> list[Entry]:
        """What eviction takes first, as far as a removal needs it (RFC-0015 §2.2).

        The index may lag behind: what it says of a victim has to be a condition of its eviction.
        """
        rows = self._table.query_sorted(BY_RECENCY, entry_keys.build_agent_partition(tenant, agent))
        return [self._items.victim(row) for row in islice(rows, wanted)]

    def touch(self, entry: Entry, now: int) -> None:
        """Records that the owner read an entry; no new version."""
        touched = entry._replace(accessed=now)
        write = update(
            entry.place,
            "SET accessed = :now, recency = :touched",
            "nonce = :nonce AND recency = :before",
            now=now,
            touched=touched.recency,
            nonce=entry.nonce,
            before=entry.recency,
        )
        with suppress(ConditionFailed):
            self._table.update(write)

    def episodic_end(self, tenant: str, agent: str, now: int, *, newest: bool) -> int | None:
        """When an agent's oldest or newest episodic entry was created; found by an index."""
        partition = entry_keys.build_agent_partition(tenant, agent)
        rows = self._table.query_range(
            BY_AGE, partition, AGE_ATTRIBUTE, now, descending=newest, at_once=_ENDS_AT_ONCE
        )
        for row in rows:
            entry = self.get((row["pk"], row["sk"]))
            if entry is not None and not entry.expired(now):
                return entry.created
        return None

    def index_rows(self, tenant: str, namespace: str, tag: str | None) -> list[Item]:
        """A namespace's index rows under a tag, newest first; None is all entries."""
        partition = entry_keys.build_namespace_partition(tenant, namespace)
        return list(
            self._table.query(partition, entry_keys.build_index_prefix(tag), newest_first=True)
        )

    def items_at(self, places: Iterable[Key]) -> dict[Key, Item]:
        """Items that aren't entries: counters, task sets."""
        return self._table.get_many(places)


def _condition(filters: Filters) -> tuple[str | None, Item]:
    """The filter expression of a query on private memory, if it filters.

    What has expired is left out later: the local engine takes a seventh of a query to compare.
    """
    terms: list[str] = []
    values: Item = {}
    for name, value, term in (
        ("ns", filters.namespace, "namespace = :ns"),
        ("start", filters.namespace_prefix, "begins_with(namespace, :start)"),
        ("key", filters.key, "ekey = :key"),
        ("tier", filters.tier, "tier = :tier"),
        ("task", filters.task, "task = :task"),
        ("intent", filters.intent, "intent = :intent"),
        ("after", filters.updated_after, "updated > :after"),
        ("before", filters.updated_before, "updated < :before"),
    ):
        if value is not None:
            terms.append(term)
            values[name] = value
    _add_tags(filters, terms, values)
    if filters.pinned is not None:
        terms.append("pinned = :true" if filters.pinned else "attribute_not_exists(pinned)")
        terms.append("tier = :episodic")
        values |= {"true": True} if filters.pinned else {}
        values["episodic"] = "episodic"
    return " AND ".join(terms) or None, values


def _add_tags(filters: Filters, terms: list[str], values: Item) -> None:
    for word, tags, prefix in ((" AND ", filters.tags, "t"), (" OR ", filters.tags_any, "u")):
        if tags:
            named = {f"{prefix}{number}": tag for number, tag in enumerate(sorted(tags))}
            terms.append(f"({word.join(f'contains(tags, :{name})' for name in named)})")
            values |= named

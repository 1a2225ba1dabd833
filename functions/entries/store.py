"""The items of entries: reads, and one-write changes by owners."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from functions.entries.eviction import build_eviction_order, build_rank
from functions.entries.filters import NO_FILTERS, Filters, build_condition
from functions.entries.mapper import EntryMapper, to_eviction_candidate
from functions.entries.model import Entry
from functions.entries.tiers import EPISODIC, POLICIES_BY_ID_LETTER
from functions.identity.model import Principal
from functions.platform import entry_keys, item_types, request_context, schema
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import ReadOnly
from functions.platform.idempotency import KEY_BYTES
from functions.platform.items import Item
from functions.platform.json_text import compress
from functions.platform.keys import HIGHEST, LOWEST, Key
from functions.platform.newest_first import read_rows
from functions.platform.schema import CREATION_ATTRIBUTE, EVICTION_ATTRIBUTE, TASK_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import build_unchanged_condition, update

_READ_TOGETHER = 4  # rows of an index, to find the first entry that hasn't expired
UNCHANGED = "nonce = :nonce AND version = :version"
"""The condition that an entry is as it was read."""
_OF_ANOTHER_REQUEST = (  # the first half is for moto, whose begins_with only accepts texts
    "request_token <> :request AND NOT begins_with(request_token, :request_key)"
)
_IS_ALONE = (
    "attribute_not_exists(data_key) AND attribute_not_exists(is_fenced)"
    " AND (attribute_not_exists(expires_at) OR expires_at > :now)"
)
"""The condition that no cipher, task or tombstone belongs to a new version of an entry."""
_KEPT_BY_A_PUT = frozenset(
    (
        *("nonce", "version", "created_at", "created_by", "curated_by"),
        *("memory_type", "agent_id", "namespace", "key", "task_id", "intent_id", "value_bytes"),
        *("is_in_own_task", "is_fenced", "pinned", "priority", "last_accessed_at"),
        *(EVICTION_ATTRIBUTE, CREATION_ATTRIBUTE, TASK_ATTRIBUTE),
    )
)
"""The attributes that a put keeps, or that its condition compares."""


class EntryStore:
    """Reads entries and index rows, strongly consistent except where noted."""

    def __init__(self, table: Table, mapper: EntryMapper) -> None:
        self._table = table
        self._mapper = mapper

    def get(self, address: EntryAddress) -> Entry | None:
        """Return the entry in a slot: one read."""
        return self._mapper.find_entry(self._table.get(address.item_key))

    def decode(self, item: Item | None) -> Entry | None:
        """Return the entry of an item that was read with others; None if the slot is free."""
        return self._mapper.find_entry(item)

    def get_many(self, item_keys: Iterable[Key]) -> dict[Key, Entry]:
        """Return those of these entries that exist, by the keys of their items."""
        items = self._table.get_many(item_keys)
        return {key: self._mapper.to_entry(item) for key, item in items.items()}

    def iterate_private(
        self, tenant: str, agent: str, filters: Filters = NO_FILTERS
    ) -> Iterator[Entry]:
        """Read an agent's private entries that match: a call per megabyte that it has.

        Expired entries are included: the local engine takes a seventh of a query to compare times.
        """
        condition, values = build_condition(filters)
        partition = item_types.AGENT.build_partition(tenant, agent=agent)
        prefix = entry_keys.build_entry_prefix(filters.namespace)
        items = self._table.query(partition, prefix, condition=condition, **values)
        return map(self._mapper.to_entry, items)

    def list_of_task(self, tenant: str, task: str) -> list[Entry]:
        """Return the entries that end with a task, by an index that may lag behind."""
        return self.get_of_task(task, self.list_keys_of_task(tenant, task))

    def list_keys_of_task(self, tenant: str, task: str) -> list[Key]:
        """Return the keys of the items of the entries that end with a task, by the same index."""
        partition = item_types.TASK.build_key(tenant, task=task)[0]
        condition = f"{schema.TASK_ATTRIBUTE} = :task"
        rows = self._table.query_index(schema.BY_TASK, condition, task=partition)
        return [(row["pk"], row["sk"]) for row in rows]

    def get_of_task(self, task: str, item_keys: Iterable[Key]) -> list[Entry]:
        """Return those of these entries that end with a task: a call per hundred."""
        found = self.get_many(item_keys).values()
        return [each for each in found if each.task_id == task and each.ends_with_task]

    def list_expired(self, tenant: str, agent: str, now: int) -> list[Entry]:
        """Return an agent's entries that have expired and aren't removed yet, by an index."""
        partition = item_types.AGENT.build_partition(tenant, agent=agent)
        condition = f"pk = :pk AND {schema.EXPIRY_ATTRIBUTE} <= :now"
        rows = self._table.query_index(schema.BY_EXPIRY, condition, pk=partition, now=now)
        entries = self.get_many((row["pk"], row["sk"]) for row in rows).values()
        return [entry for entry in entries if entry.is_expired(now)]

    def iterate_by_eviction(
        self, tenant: str, agent: str, after: str | None, page_size: int
    ) -> Iterator[Entry]:
        """Iterate an agent's entries in the order of eviction (RFC-0015 §2.2).

        They have the fields that a removal needs. The index that lists them may lag behind, so the
        removal has to check them.

        Args:
            after: the order to begin after; None for the first entry to evict.
        """
        rows = self._table.query_index(
            schema.BY_EVICTION,
            f"pk = :pk AND {schema.EVICTION_ATTRIBUTE} > :after",
            page_size=page_size,
            pk=item_types.AGENT.build_partition(tenant, agent=agent),
            after=after or LOWEST,
        )
        return map(to_eviction_candidate, rows)

    def list_index_rows(
        self, tenant: str, namespace: str, tag: str | None, before: str | None, count: int
    ) -> list[Item]:
        """Return a namespace's index rows, newest first.

        Args:
            tag: whose rows to list; None for the rows of all entries.
            before: the sort token before which they begin; None for the newest.
        """
        partition = item_types.SEMANTIC_ENTRY.build_partition(tenant, namespace=namespace)
        prefix = entry_keys.build_index_row_sort("", tag)
        last = prefix + (HIGHEST if before is None else before)
        rows = self._table.query(partition, prefix, last, count + 1, newest_first=True)
        return list(islice((row for row in rows if row["sk"] != last), count))

    def list_by_creation(
        self, index: str, partition: str, tier: str, before: str | None, count: int
    ) -> list[Item]:
        """Return rows of a tier's entries under a partition of an index, newest first.

        Args:
            tier: the letter of the tier.
            before: the sort token before which they begin; None for the newest.
        """
        end = entry_keys.build_creation_bound(tier, before)
        return read_rows(self._table, index, partition, tier, end, count)

    def list_last_counted(self, tenant: str, agent: str) -> list[str]:
        """Return the sort token of the entry that an agent's counters counted last, if any."""
        item = self._table.get(item_types.AGENT.build_key(tenant, agent=agent)) or {}
        return [item["newest"]] if "newest" in item else []

    def find_id(self, tenant: str, agent: str | None, letter: str, nonce: str) -> str | None:
        """Find the id of an entry by its nonce, in an index that may lag behind: one call.

        Args:
            agent: the owner of a private entry; None in semantic memory.
            letter: of the tier.
        """
        parts = entry_keys.split_nonce(nonce)
        if parts is None:
            return None
        index = schema.BY_TENANT
        value = item_types.SEMANTIC_ENTRY.build_index_partition(index, tenant)
        if agent is not None:
            index, value = schema.BY_CREATION, item_types.AGENT.build_partition(tenant, agent=agent)
        of, order = schema.INDEX_KEYS[index]
        condition = f"{of} = :value AND begins_with({order}, :start)"
        rows = self._table.query_index(index, condition, value=value, start=letter + parts[0])
        orders = (row[order] for row in rows if row[order].endswith(parts[1]))
        tokens = map(entry_keys.parse_creation_order, orders)
        return next(map(entry_keys.parse_sort_token, tokens), None)

    def find_creation_time(self, tenant: str, agent: str, now: int, *, newest: bool) -> int | None:
        """Return the creation time of an agent's oldest or newest episodic entry, by an index."""
        rows = self._table.query_index(
            schema.BY_CREATION,
            f"pk = :pk AND begins_with({schema.CREATION_ATTRIBUTE}, :tier)",
            newest_first=newest,
            page_size=_READ_TOGETHER,
            pk=item_types.AGENT.build_partition(tenant, agent=agent),
            tier=EPISODIC.id_letter,
        )
        for row in rows:
            entry = self._mapper.find_entry(self._table.get((row["pk"], row["sk"])))
            if entry is not None and not entry.is_expired(now):
                return entry.created_at
        return None

    def record_access(self, entry: Entry, now: int) -> None:
        """Record that an entry's owner read it: no new version, and nothing if it has changed.

        In a standby Region nothing is written, and the read succeeds.
        """
        write = update(
            entry.item_key,
            "SET last_accessed_at = :now, eviction_order = :order",
            "nonce = :nonce AND eviction_order = :before",
            now=now,
            order=entry._replace(last_accessed_at=now).eviction_order,
            nonce=entry.nonce,
            before=entry.eviction_order,
        )
        with suppress(ConditionFailed, ReadOnly):
            self._table.update(write)

    def remove_history(self, entry: Entry) -> None:
        """Mark that no earlier version of an entry is kept; makes no new version."""
        write = update(
            entry.item_key,
            "SET history_since = :version",
            "nonce = :nonce AND version = :version",
            nonce=entry.nonce,
            version=entry.version,
        )
        self._table.update(write)

    def fence(self, entry: Entry) -> None:
        """Mark that each write of an entry checks its task; makes no new version."""
        write = update(
            entry.item_key, "SET is_fenced = :true", "nonce = :nonce", true=True, nonce=entry.nonce
        )
        self._table.try_write(write)

    def change_own(
        self,
        address: EntryAddress,
        nonce: str,
        version: int,
        caller: Principal,
        now: int,
        changes: dict[str, Any],
    ) -> tuple[Entry | None, Entry | None]:
        """Change value or tags of the owner's entry by one write, with no read before it.

        This is possible only if nothing else has to change: the entry isn't expired, fenced or
        encrypted, another request wrote it, its value keeps its size, and an episodic entry is not
        pinned and has normal priority.

        Args:
            nonce: the incarnation to change.
            changes: fields of the entry: `request_token`, and `tags`, or `value` and `value_bytes`.

        Returns:
            the changed entry, or None and what is in the slot instead, if anything.
        """
        policy = POLICIES_BY_ID_LETTER[address.tier]
        attributes: Item = {
            "updated_at": now,
            "request_token": changes["request_token"],
            "traceparent": request_context.traceparent.get(),
            "actor_kind": caller.kind,
        }
        condition = f"{UNCHANGED} AND memory_type = :memory_type AND agent_id = :caller"
        values: Item = {"nonce": nonce, "version": version}
        values |= {"memory_type": policy.name, "caller": caller.id}
        if "value" in changes:
            attributes["value"] = compress(changes["value"])
            condition += " AND value_bytes = :size"
            values["size"] = changes["value_bytes"]
        if "tags" in changes:
            attributes["tags"] = changes["tags"] or None
        if policy.is_evictable:
            attributes |= {
                "last_accessed_at": now,
                EVICTION_ATTRIBUTE: build_eviction_order("normal", now, nonce),
            }
            # A pinned entry has no order, and an entry of another priority keeps its rank: both
            # need more than one write.
            condition += " AND begins_with(eviction_order, :rank)"
            values["rank"] = build_rank("normal")
        return self._write_own(address.item_key, attributes, now, condition, values)

    def put_own(self, entry: Entry, version: int | None) -> tuple[Entry | None, Entry | None]:
        """Replace the fields of an owner's entry in the slot of `entry` by one write.

        This is possible only if nothing else has to change: the slot has an entry of the same tier,
        scope and size, which is neither expired nor encrypted, and another request wrote it.

        Args:
            entry: working memory of its owner, with the fields to write.
            version: the version that the slot must have; None for any.

        Returns:
            the changed entry, or None and what is in the slot instead, if anything.
        """
        item = self._mapper.to_item(entry)
        attributes = {name: value for name, value in item.items() if name not in _KEPT_BY_A_PUT}
        # A put without a scope replaces only an entry without a scope.
        same: Item = {
            "memory_type": entry.memory_type,
            "agent_id": entry.agent_id,
            "value_bytes": entry.value_bytes,
            "task_id": entry.task_id,
            "intent_id": entry.intent_id,
        }
        condition, seen = build_unchanged_condition(
            same if version is None else same | {"version": version}
        )
        return self._write_own(entry.item_key, attributes, entry.updated_at, condition, seen)

    def _write_own(
        self, key: Key, attributes: Item, now: int, condition: str, values: Item
    ) -> tuple[Entry | None, Entry | None]:
        """Write a new version of an entry, if nothing else has to change.

        Args:
            attributes: the attributes to set; None removes one.
            condition: further conditions, with their values.
        """
        token = attributes["request_token"]
        present = {name: value for name, value in attributes.items() if value is not None}
        settings = ", ".join(f"#{name} = :{name}" for name in present)
        removed = ", ".join(f"#{name}" for name in attributes.keys() - present.keys())
        write = update(
            key,
            f"SET version = version + :one, {settings}" + (f" REMOVE {removed}" if removed else ""),
            f"{condition} AND {_OF_ANOTHER_REQUEST} AND {_IS_ALONE}",
            **values | present,
            one=1,
            now=now,
            request=token,
            request_key=token[:KEY_BYTES],
        )
        try:
            return self._mapper.to_entry(self._table.update(write)), None
        except ConditionFailed as failed:
            return None, self._mapper.find_entry(failed.item)

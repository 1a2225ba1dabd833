"""Which entries and index rows a query matches (RFC-0015 §4.1); pure."""

from functions.entries.model import Entry, Filters
from functions.platform.items import Item


def matches(entry: Entry, filters: Filters, now: int) -> bool:
    """Whether a live entry passes every filter."""
    tags = frozenset(entry.tags)
    return (
        not entry.expired(now)
        and filters.tier in (None, entry.tier)
        and filters.agent_id in (None, entry.agent)
        and filters.namespace in (None, entry.namespace)
        and (
            filters.namespace_prefix is None or entry.namespace.startswith(filters.namespace_prefix)
        )
        and filters.key in (None, entry.key)
        and filters.task in (None, entry.task)
        and filters.intent in (None, entry.intent)
        and filters.tags <= tags
        and (not filters.tags_any or not tags.isdisjoint(filters.tags_any))
        and (filters.pinned is None or (entry.tier, entry.pinned) == ("episodic", filters.pinned))
        and _within(entry.updated, filters)
    )


def row_matches(row: Item, filters: Filters, now: int) -> bool:
    """Whether an index row passes the filters that don't concern namespace, key and tags."""
    return (
        row.get("ends", now + 1) > now
        and filters.agent_id in (None, row["agent_id"])
        and filters.task in (None, row.get("task"))
        and filters.intent in (None, row.get("intent"))
        and _within(row["updated"], filters)
    )


def _within(updated: int, filters: Filters) -> bool:
    after, before = filters.updated_after, filters.updated_before
    return (after is None or updated > after) and (before is None or updated < before)

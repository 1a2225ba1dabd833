"""Convert CrewAI's records from entries, and match them with conditions."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from crewai.memory.types import MemoryRecord

from agent_memory import Entry
from agent_memory.adapters.crewai.scopes import (
    build_category_tags,
    build_scope_tags,
    build_tags,
)


def to_record(entry: Entry) -> MemoryRecord:
    """Return the record of an entry, without its vector."""
    record: MemoryRecord = MemoryRecord.model_validate(entry.value)
    return record


def get_time(record: MemoryRecord) -> datetime:
    """Return the creation time of a record, in a comparable form."""
    return _to_utc(record.created_at)


def _to_utc(time: datetime) -> datetime:
    """Return a comparable time; CrewAI's own times are UTC without a time zone."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def has_metadata(record: MemoryRecord, wanted: Mapping[str, Any] | None) -> bool:
    """Tell whether the metadata of a record has all wanted fields."""
    return all(record.metadata.get(name) == value for name, value in (wanted or {}).items())


def is_meant(
    record: MemoryRecord,
    scope: str | None,
    categories: list[str] | None,
    older_than: datetime | None,
    metadata: Mapping[str, Any] | None,
) -> bool:
    """Tell whether a record meets all conditions of a deletion."""
    tags = build_tags(record.scope, record.categories)
    wanted = build_category_tags(categories or ())
    return (
        set(build_scope_tags(scope)) <= set(tags)
        and (not wanted or not set(wanted).isdisjoint(tags))
        and (older_than is None or get_time(record) < _to_utc(older_than))
        and has_metadata(record, metadata)
    )

"""The arguments of calls that read a log."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent_memory.model import EventType
from agent_memory.page import Paging
from agent_memory.requests import drop_none, render_time

_NAMES = {"since": "from", "until": "to"}  # with the service's names


class LogFilters(Paging, total=False):
    """Filters of a log; by default, the whole log.

    Attributes:
        actor: only changes by this principal.
        since: only from this time on.
        until: only up to this time.
        newest_first: reverse order; by default, the oldest come first.
    """

    actor: str | None
    since: str | datetime | None
    until: str | datetime | None
    newest_first: bool


class EventFilters(LogFilters, total=False):
    """Filters of events; by default, all events.

    Attributes:
        type: only events of this type.
        entry_id: only events about this entry.
        follow: wait at the log's end for further events, until the loop ends by `break`.
    """

    type: EventType | None
    entry_id: str | None
    follow: bool


class AuditFilters(LogFilters, total=False):
    """Filters of audit records; by default, all records.

    Attributes:
        action: only this action, such as `principal.create`.
    """

    action: str | None


def to_log_query(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query parameters of a call on a log, except those of its pages."""
    left_out = {*Paging.__annotations__, "newest_first", "follow"}
    named = {
        _NAMES.get(name, name): render_time(value)
        for name, value in filters.items()
        if name not in left_out
    }
    return drop_none(**named, order="desc" if filters.get("newest_first") else None)

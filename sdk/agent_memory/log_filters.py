"""The arguments of calls that read a log."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent_memory.model import EventType
from agent_memory.page import Paging
from agent_memory.requests import drop_none, render_time

_NAMES = {"since": "from", "until": "to"}  # as the service has them


class LogFilters(Paging, total=False):
    """Which part of a log a call returns; all of it, unless given.

    Attributes:
        actor: what this principal did.
        since: from this moment on.
        until: up to this moment.
        newest_first: the other way round; logs begin with the oldest.
    """

    actor: str | None
    since: str | datetime | None
    until: str | datetime | None
    newest_first: bool


class EventFilters(LogFilters, total=False):
    """Which events of a log a call returns; all of them, unless given.

    Attributes:
        type: of this type.
        entry_id: about this entry.
        follow: waits at the log's end for further events, until the loop ends by `break`.
    """

    type: EventType | None
    entry_id: str | None
    follow: bool


class AuditFilters(LogFilters, total=False):
    """Which records of the audit log a call returns; all of them, unless given.

    Attributes:
        action: of this action, such as `principal.create`.
    """

    action: str | None


def to_log_query(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query parameters of a call on a log, but for those of its pages."""
    left_out = {*Paging.__annotations__, "newest_first", "follow"}
    named = {
        _NAMES.get(name, name): render_time(value)
        for name, value in filters.items()
        if name not in left_out
    }
    return drop_none(**named, order="desc" if filters.get("newest_first") else None)

"""Records: events, uses of authority, deletions, usage.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import ActorKind, DeletionKind, DeletionStatus, EventType


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor(Model):
    """The author of a change."""

    id: str
    kind: ActorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Model):
    """An event of a log (RFC-0015 §5.2).

    Attributes:
        agent_id: The owner of the memory.
        actor: The principal that made the change.
        data: The entry that was changed, without its value.
    """

    id: str
    type: EventType
    agent_id: str
    actor: Actor
    intent_id: str | None = None
    task_id: str | None = None
    data: dict[str, Any]
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord(Model):
    """A use of authority.

    Attributes:
        action: The action: `principal.create`.
        target: The target of the action: `principal:ada`.
        before: The changed fields before the action.
        after: The changed fields after the action.
        request_id: The id of the request, which its response and the function's log have, too.
    """

    id: str
    time: datetime
    actor: Actor
    action: str
    target: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion(Model):
    """A deletion and its progress.

    Attributes:
        id: The id of the tenant, the agent or the person.
        finished_at: The time when everything was deleted, including late writes of functions.
        counts: The number of items of each type, and of files, that were deleted or redacted so
            far.
    """

    kind: DeletionKind
    id: str
    dry_run: bool
    status: DeletionStatus
    requested_at: datetime
    requested_by: Actor
    finished_at: datetime | None = None
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantLimits(Model):
    """The limits of a tenant; None: no limit."""

    items: int | None = None
    bytes: int | None = None
    requests_per_second: int | None = None
    deletions_per_day: int | None = None
    model_tokens_per_day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayUsage(Model):
    """The usage of a tenant on one day.

    Attributes:
        day: The day in UTC, such as `2026-11-24`.
        requests: The number of requests, by operation.
        items: The number of stored items, by kind.
        bytes: The bytes of their contents, by kind.
        read_units: Read units of the requests.
        write_units: Write units of the requests.
        cost_usd: An estimate by list prices.
    """

    day: str
    requests: dict[str, int]
    items: dict[str, int]
    bytes: dict[str, int]
    read_units: float
    write_units: float
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantUsage(Model):
    """The usage of a tenant, by day."""

    tenant: str
    limits: TenantLimits
    days: tuple[DayUsage, ...]

"""Runs of agents and their episodes.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import RunStatus, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Model):
    """A run of an agent.

    Attributes:
        agent_type: A label that groups runs, such as `sdr`. It does not limit access.
        instance_id: The instance of the agent.
        sensitivity: `confidential` and `restricted` values are stored encrypted.
        version: Counts the changes.
        expires_at: The time of its expiry. It is not found afterwards.
        input: Absent without `memory.read`, or where `omitted` names it.
        output: Absent without `memory.read`, or where `omitted` names it.
        error: Absent without `memory.read`, or where `omitted` names it.
        unreadable: True if a stored value was damaged or moved; it is shown as `{"unreadable":
            true}`.
    """

    id: str
    agent_type: str
    instance_id: str | None = None
    status: RunStatus
    sensitivity: Sensitivity | None = None
    version: int
    created_at: datetime
    created_by: str
    ended_at: datetime | None = None
    ended_by: str | None = None
    expires_at: datetime
    input: Any = None
    output: Any = None
    error: Any = None
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Model):
    """An episode of a run.

    Attributes:
        run_id: The run that it belongs to.
        agent_type: In lists; an append doesn't look it up.
        content: Absent without `memory.read`.
        kind: Your own label, such as `tool_call` or `observation`.
        turn: The turn of the run to which the episode belongs.
        metadata: Absent without `memory.read`.
        unreadable: True if the stored content was damaged or moved.
        sensitivity: `confidential` and `restricted` values are stored encrypted.
        expires_at: The time of its expiry. It is not found afterwards.
    """

    id: str
    run_id: str
    agent_type: str | None = None
    content: Any = None
    role: str | None = None
    kind: str | None = None
    turn: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    unreadable: bool = False
    sensitivity: Sensitivity | None = None
    created_at: datetime
    created_by: str
    expires_at: datetime

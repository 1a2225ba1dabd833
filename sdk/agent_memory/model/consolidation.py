"""Consolidation of facts.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime

from agent_memory.document import Model
from agent_memory.model.facts import Fact
from agent_memory.model.literals import ConsolidationReason, ConsolidationStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationStep(Model):
    """A change of facts by a consolidation.

    Attributes:
        facts: The facts that are merged, ended or weakened, in their present state. A fact
            about a user whose memory you may not read has no statement.
        kept: The id of the fact that remains.
    """

    facts: tuple[Fact, ...]
    reason: ConsolidationReason
    kept: str | None = None
    undone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPreview(Model):
    """The changes that a consolidation would make.

    Attributes:
        examined: The number of facts that were examined.
        complete: True if all facts were examined, and all steps are listed; a request examines
            the newest 2,000.
    """

    merged: tuple[ConsolidationStep, ...]
    ended: tuple[ConsolidationStep, ...]
    weakened: tuple[ConsolidationStep, ...]
    examined: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedConsolidation(Model):
    """A consolidation and its progress."""

    id: str
    status: ConsolidationStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun(Model):
    """A consolidation and its changes.

    Attributes:
        examined: The number of facts that were examined.
        next: The `after` of the next page of steps; absent on the last page.
    """

    merged: tuple[ConsolidationStep, ...]
    ended: tuple[ConsolidationStep, ...]
    weakened: tuple[ConsolidationStep, ...]
    examined: int
    id: str
    status: ConsolidationStatus
    started_at: datetime
    finished_at: datetime | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings(Model):
    """The settings of consolidation.

    Attributes:
        every: The time between two consolidations, as an ISO 8601 duration; null: only on
            request.
        decay_after: The time after which an unused fact is weakened; null: never.
        end_below: A weakened fact ends if its confidence is below this value.
        next_at: The start of the next consolidation. A tenant's first fact schedules one within
            eight days.
        last_run: The id of the latest consolidation.
    """

    every: str | None = None
    decay_after: str | None = None
    end_below: float
    next_at: datetime | None = None
    last_run: str | None = None

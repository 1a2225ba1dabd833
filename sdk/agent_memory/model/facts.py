"""Facts that agents learned.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import FactChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Model):
    """A fact: subject, predicate and object.

    Attributes:
        user_id: The user whom the fact is about.
        unreadable: True if the stored metadata was damaged or moved.
        agent_type: A label that groups runs, such as `sdr`. It does not limit access.
        subject: Absent without `memory.read`.
        predicate: Absent without `memory.read`.
        object: Absent without `memory.read`.
        learned_from_run_id: The last run that learned it.
        learned_from_run_ids: The latest 20 runs that learned it, the last one at the end.
        learned_count: The number of times that it was learned.
        valid_from: The time when the statement begins to hold.
        valid_until: The time when it ceases to hold; null: it still holds.
        replaced_facts: The ids of the facts that it ended.
        merged_into: The id of the equal fact that remains.
        conflicts_with: The ids of facts with another value of the same single-valued predicate;
            absent without any. A list compares the facts of its page, a recall all present
            facts.
        metadata: Absent without `memory.read`.
        version: Counts the changes; send it as If-Match.
    """

    fact_id: str
    user_id: str | None = None
    unreadable: bool = False
    agent_type: str | None = None
    subject: str = ""
    predicate: str = ""
    object: str = ""
    confidence: float
    learned_from_run_id: str | None = None
    learned_from_run_ids: tuple[str, ...]
    learned_count: int
    first_learned_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    replaced_facts: tuple[str, ...]
    merged_into: str | None = None
    conflicts_with: tuple[str, ...] = ()
    learned_by: str
    metadata: dict[str, Any] | None = None
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledFact(Fact):
    """A fact that was recalled.

    Attributes:
        score: The relevance: 1 for the same words. Compare scores only within one response.
        matched: The words and ids of the query that the fact has, without case and accents.
    """

    score: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange(Model):
    """A change of a fact."""

    time: datetime
    actor: str
    change: FactChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPeriod(Fact):
    """A fact in a period in which it held.

    Attributes:
        changes: The fact's latest 20 changes apart from being learned again.
    """

    changes: tuple[FactChange, ...]

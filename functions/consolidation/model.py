"""Consolidations: their settings, their progress, and the steps that they take."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from functions.facts.model import Fact
from functions.platform.clock import parse_milliseconds

Reason = Literal["same_spelling", "near_identical", "contradicted", "not_used", "low_confidence"]
StepKind = Literal["merged", "ended", "weakened"]
Status = Literal["running", "done", "undoing", "undone"]


class ConsolidationRules(NamedTuple):
    """The rules of a consolidation.

    Attributes:
        every: the time between two consolidations (ISO 8601); None: only on request.
        decay_after: the time without use after which a fact is weakened; None: never.
        end_below: a weakened fact ends if its confidence is below this value.
    """

    every: str | None = None
    decay_after: str | None = None
    end_below: float = 0.0

    @property
    def every_ms(self) -> int | None:
        return parse_milliseconds(self.every, "every")

    @property
    def decay_ms(self) -> int | None:
        return parse_milliseconds(self.decay_after, "decay_after")


class ConsolidationSchedule(NamedTuple):
    """A tenant's settings, with its next and latest consolidation.

    Attributes:
        next_at: when the next consolidation starts (epoch ms); None: only on request.
        revision: grows with each change; 0 if nothing is stored.
    """

    rules: ConsolidationRules
    next_at: int | None = None
    last_run: str | None = None
    revision: int = 0


class ConsolidationRun(NamedTuple):
    """A consolidation and its progress. Times are epoch ms.

    Attributes:
        last: the position of the last fact that it covers; later facts are too new.
        after: the position of the last fact that was processed.
        within: the position among the facts about the next subject.
        undone_after: the position of the last step that was examined to undo it.
        revision: grows with each step, so that two workers don't take the same one.
    """

    id: str
    status: Status
    started_at: int
    last: str
    finished_at: int | None = None
    examined: int = 0
    after: str | None = None
    within: str | None = None
    undone_after: str | None = None
    revision: int = 1

    @property
    def is_at_work(self) -> bool:
        return self.status in ("running", "undoing")


class ConsolidationStep(NamedTuple):
    """A change that a consolidation makes to facts.

    Attributes:
        changes: each fact before and after the step.
        kept: the id of the fact that remains.
        shown: the facts that are merged, ended or weakened.
    """

    kind: StepKind
    reason: Reason
    changes: tuple[tuple[Fact, Fact], ...]
    shown: tuple[Fact, ...]
    kept: str | None = None


class TakenStep(NamedTuple):
    """A step as it is stored: it names facts by the references of their vectors.

    Attributes:
        refs: the facts that it changed.
        versions: the versions of these facts after the step.
        before: the changed fields of each fact before the step.
        shown: the references that a report names.
        kept: the fact that remains.
        undone: whether any of its facts was restored.
    """

    position: str
    kind: StepKind
    reason: Reason
    refs: tuple[str, ...]
    versions: tuple[int, ...]
    before: tuple[dict[str, Any], ...]
    shown: tuple[str, ...]
    kept: str | None = None
    undone: bool = False


class ReportedStep(NamedTuple):
    """A step with its facts, as a report shows it.

    Attributes:
        facts: those that still exist.
        hidden: the ids of those whose statement the caller may not read.
        kept: the id of the fact that remains.
    """

    kind: StepKind
    reason: Reason
    facts: Sequence[Fact]
    hidden: frozenset[str]
    kept: str | None
    undone: bool = False
    position: str = ""

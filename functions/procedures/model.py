"""Workflows of a procedure, as they come and as they are kept (ADR-043 Tier 4)."""

from dataclasses import dataclass

MOST_SPEC_BYTES = 65_536
BILLION = 1_000_000_000  # scores are counted in billionths


@dataclass(frozen=True, slots=True)
class Place:
    """Which procedure: the workflows of a type of task of a type of agent."""

    agent_type: str
    task_type: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What outcomes have added up to, in billionths of an outcome, as seen from `base` (epoch ms).

    With a half-life (ms), an outcome counts for twice what one a half-life earlier does: later ones
    are added with more weight, so that nothing that stands has to be changed when time passes.
    """

    successes: int
    failures: int
    outcomes: int
    base: int
    half_life: int | None = None


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow. `spec` is compact JSON; times are epoch ms."""

    place: Place
    id: str
    spec: bytes
    half_life_text: str | None
    evidence: Evidence
    version: int
    created: int
    updated: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A workflow and its Beta(alpha, beta) at a moment; `sampled` is what a selection drew."""

    workflow: Workflow
    alpha: float
    beta: float
    sampled: float | None = None

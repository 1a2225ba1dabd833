"""Procedures, their workflows, and the statistics of outcomes (ADR-043 Tier 4)."""

from typing import NamedTuple

from functions.platform.keys import build_list_position

BILLION = 1_000_000_000  # scores are counted in billionths


class Procedure(NamedTuple):
    """The name of a procedure: a type of task of a type of agent."""

    agent_type: str
    task_type: str


class TaskType(NamedTuple):
    """A type of task, and the number of workflows that an agent type has for it."""

    task_type: str
    workflows: int


class OutcomeStats(NamedTuple):
    """Sums of scores, in billionths of an outcome at the time `base_ms` (epoch ms).

    With a half-life (ms), an outcome has twice the weight of an outcome that is a half-life older.
    Later outcomes are added with more weight, so that stored sums need no change as time passes.
    """

    successes: int
    failures: int
    outcomes: int
    base_ms: int
    half_life_ms: int | None = None


class ProcedureWorkflow(NamedTuple):
    """A workflow. `spec` is compact JSON, written by `written_by`; times are epoch ms."""

    procedure: Procedure
    workflow_id: str
    spec: bytes
    stats: OutcomeStats
    version: int
    created_at: int
    updated_at: int
    half_life: str | None = None
    written_by: str | None = None


class WorkflowStats(NamedTuple):
    """A workflow and its Beta(alpha, beta) at a time; `sampled` is a selection's sample."""

    workflow: ProcedureWorkflow
    alpha: float
    beta: float
    sampled: float | None = None

    @property
    def list_position(self) -> str:
        """Return the position in lists, newest first."""
        return build_list_position(self.workflow.created_at, self.workflow.workflow_id)

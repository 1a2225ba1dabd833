"""Select workflows by Thompson sampling over Beta(alpha, beta) with decaying outcomes."""

from collections.abc import Sequence
from random import Random

from functions.procedures.model import BILLION, OutcomeStats, ProcedureWorkflow, WorkflowStats
from functions.procedures.requests import LearnedStats

_MOST_HALF_LIVES = 60  # half-lives until a rebase: DynamoDB's numbers have 38 digits


def compute_beta(stats: OutcomeStats, now: int) -> tuple[float, float]:
    """Compute alpha and beta at a time: 1 plus the decayed successes or failures."""
    unit = BILLION * _weight(stats, now)
    return 1 + stats.successes / unit, 1 + stats.failures / unit


def compute_stats(workflow: ProcedureWorkflow, now: int) -> WorkflowStats:
    """Compute a workflow's Beta distribution at a time (epoch ms)."""
    return WorkflowStats(workflow, *compute_beta(workflow.stats, now))


def build_stats(learned: LearnedStats | None, now: int, half_life: int | None) -> OutcomeStats:
    """Build the initial statistics of a workflow."""
    if learned is None:
        return OutcomeStats(0, 0, 0, now, half_life)
    successes, failures = (round((each - 1) * BILLION) for each in (learned.alpha, learned.beta))
    return OutcomeStats(successes, failures, learned.outcomes, now, half_life)


def weigh_outcome(stats: OutcomeStats, score: float, now: int) -> tuple[int, int]:
    """Compute the weights that an outcome adds to successes and failures."""
    weight = _weight(stats, now)
    success = round(score * BILLION)
    return round(success * weight), round((BILLION - success) * weight)


def needs_rebase(stats: OutcomeStats, now: int) -> bool:
    """Return whether `base_ms` has to move before another outcome is added."""
    half_life = stats.half_life_ms
    return half_life is not None and now - stats.base_ms > _MOST_HALF_LIVES * half_life


def rebase(stats: OutcomeStats, now: int, half_life: int | None) -> OutcomeStats:
    """Convert the sums to the base `now`; from then on they decay by `half_life`."""
    weight = _weight(stats, now)
    return stats._replace(
        successes=round(stats.successes / weight),
        failures=round(stats.failures / weight),
        base_ms=now,
        half_life_ms=half_life,
    )


def revise_workflow(
    present: ProcedureWorkflow,
    spec: bytes,
    half_life_text: str | None,
    half_life: int | None,
    now: int,
    *,
    reset: bool,
) -> ProcedureWorkflow:
    """Set the spec and half-life of a workflow; return it unchanged if they are the same.

    The statistics stay, unless `reset`.
    """
    stats = present.stats
    if half_life != stats.half_life_ms:
        stats = rebase(stats, now, half_life)
    if reset and stats.outcomes:
        stats = build_stats(None, now, half_life)
    after = present._replace(spec=spec, half_life=half_life_text, stats=stats)
    return (
        present if after == present else after._replace(version=present.version + 1, updated_at=now)
    )


def select_workflow(workflows: Sequence[ProcedureWorkflow], now: int, rng: Random) -> WorkflowStats:
    """Select the workflow with the highest sample from its Beta distribution.

    Args:
        rng: draws a sample for each workflow, in their order.
    """

    def sample(workflow: ProcedureWorkflow) -> WorkflowStats:
        stats = compute_stats(workflow, now)
        return stats._replace(sampled=rng.betavariate(stats.alpha, stats.beta))

    return max(map(sample, workflows), key=lambda each: each.sampled or 0.0)


def _weight(stats: OutcomeStats, now: int) -> float:
    """Compute the weight of an outcome at `now`; an outcome at `base_ms` has the weight 1.

    Outcomes are never rewritten. Newer ones weigh more instead: with a half-life of one day, an
    outcome two days after `base_ms` weighs 4. The weight is at least 1, because the clock of
    another function may be behind the one that wrote `base_ms`.
    """
    if stats.half_life_ms is None:
        return 1.0
    half_lives = (now - stats.base_ms) / stats.half_life_ms
    # a double holds 2 ** 1000; a rebase happens long before
    return float(2.0 ** max(0.0, min(half_lives, 1000.0)))

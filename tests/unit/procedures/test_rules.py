"""ADR-043 Tier 4: Thompson sampling against what theory says of it."""

import math
from random import Random

from functions.procedures.model import BILLION, OutcomeStats, Procedure, ProcedureWorkflow
from functions.procedures.rules import (
    compute_beta,
    needs_rebase,
    rebase,
    revise_workflow,
    select_workflow,
    weigh_outcome,
)

MEANS = (0.3, 0.5, 0.6)
ROUNDS, RUNS = 2_000, 10


def workflow(name: str, stats: OutcomeStats) -> ProcedureWorkflow:
    """A workflow with this stats."""
    return ProcedureWorkflow(Procedure("sdr", "outreach"), name, b"null", None, stats, 1, 0, 0)


def plus(stats: OutcomeStats, score: float, now: int = 0) -> OutcomeStats:
    """The stats after one more outcome."""
    success, failure = weigh_outcome(stats, score, now)
    return OutcomeStats(
        stats.successes + success,
        stats.failures + failure,
        stats.outcomes + 1,
        stats.base,
        stats.half_life,
    )


def regret(rng: Random) -> float:
    """What a run loses against always taking the best workflow."""
    arms = {str(n): OutcomeStats(0, 0, 0, 0) for n in range(len(MEANS))}
    lost = 0.0
    for _ in range(ROUNDS):
        workflows = [workflow(name, stats) for name, stats in arms.items()]
        chosen = select_workflow(workflows, 0, rng).workflow.id
        mean = MEANS[int(chosen)]
        arms[chosen] = plus(arms[chosen], float(rng.random() < mean))
        lost += max(MEANS) - mean
    return lost


def divergence(p: float, q: float) -> float:
    """Kullback-Leibler divergence of two Bernoulli distributions."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def test_its_regret_grows_as_theory_says() -> None:
    """Lai and Robbins: no method that learns loses less than this times log T in the long run."""
    best = max(MEANS)
    bound = sum((best - mean) / divergence(mean, best) for mean in MEANS if mean < best)
    mean_regret = sum(regret(Random(seed)) for seed in range(RUNS)) / RUNS  # noqa: S311
    assert mean_regret < 1.5 * bound * math.log(ROUNDS)
    assert mean_regret < 0.2 * ROUNDS * (best - sum(MEANS) / len(MEANS))


def test_an_outcome_is_split_without_a_rest() -> None:
    for score in (0, 1, 0.1, 1 / 3, 0.999999999):
        success, failure = weigh_outcome(OutcomeStats(0, 0, 0, 0), score, 0)
        assert success + failure == BILLION


def test_fading_evidence_is_weighed_the_same_from_any_base() -> None:
    hour = 3_600_000
    early, late = OutcomeStats(0, 0, 0, 0, hour), OutcomeStats(0, 0, 0, 5 * hour, hour)
    for now in (5 * hour, 6 * hour, 9 * hour):
        early, late = plus(early, 0.75, now), plus(late, 0.75, now)
    for seen, other in zip(
        compute_beta(early, 10 * hour), compute_beta(late, 10 * hour), strict=True
    ):
        assert math.isclose(seen, other, rel_tol=1e-6)


def regret_after_a_change(half_life: int | None, rng: Random) -> float:
    """What a run loses once the better of two workflows has become the worse."""
    arms = {name: OutcomeStats(0, 0, 0, 0, half_life) for name in "ab"}
    lost = 0.0
    for now in range(ROUNDS):
        changed = now >= ROUNDS // 2
        means = {"a": 0.3, "b": 0.7} if changed else {"a": 0.7, "b": 0.3}
        workflows = [workflow(name, stats) for name, stats in arms.items()]
        chosen = select_workflow(workflows, now, rng).workflow.id
        arms[chosen] = plus(arms[chosen], float(rng.random() < means[chosen]), now)
        lost += changed * (0.7 - means[chosen])
    return lost


def test_who_forgets_learns_anew_when_the_world_changes() -> None:
    lost = {
        half_life: sum(regret_after_a_change(half_life, Random(seed)) for seed in range(5))  # noqa: S311
        for half_life in (None, ROUNDS // 20)
    }
    assert lost[ROUNDS // 20] < lost[None] / 3

"""ADR-043 Tier 4: Thompson sampling against what theory says of it, and how outcomes fade."""

import math
from random import Random

import pytest

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
HOUR = 3_600_000
BLANK = OutcomeStats(0, 0, 0, 0)


def workflow(name: str, stats: OutcomeStats = BLANK) -> ProcedureWorkflow:
    return ProcedureWorkflow(Procedure("sdr", "outreach"), name, b"null", stats, 1, 0, 0)


def plus(stats: OutcomeStats, *scores: float, now: int = 0) -> OutcomeStats:
    for score in scores:
        success, failure = weigh_outcome(stats, score, now)
        stats = stats._replace(
            successes=stats.successes + success,
            failures=stats.failures + failure,
            outcomes=stats.outcomes + 1,
        )
    return stats


def select(arms: dict[str, OutcomeStats], rng: Random, now: int = 0) -> str:
    workflows = [workflow(name, stats) for name, stats in arms.items()]
    return select_workflow(workflows, now, rng).workflow.workflow_id


def regret(rng: Random) -> float:
    """Return what a run loses against always taking the best workflow."""
    arms = {str(n): BLANK for n in range(len(MEANS))}
    lost = 0.0
    for _ in range(ROUNDS):
        chosen = select(arms, rng)
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


def test_a_selection_prefers_what_has_done_better() -> None:
    arms = {"good": plus(BLANK, *[1] * 20), "bad": plus(BLANK, *[0] * 20)}
    assert {select(arms, Random(seed)) for seed in range(20)} == {"good"}  # noqa: S311


def test_a_selection_tries_workflows_without_outcomes() -> None:
    arms = dict.fromkeys("abc", BLANK)
    assert {select(arms, Random(seed)) for seed in range(20)} == set("abc")  # noqa: S311


@pytest.mark.parametrize("score", [0, 1, 0.1, 1 / 3, 0.999999999])
def test_an_outcome_is_split_without_a_rest(score: float) -> None:
    assert sum(weigh_outcome(BLANK, score, 0)) == BILLION


def test_outcomes_are_counted_exactly() -> None:
    assert compute_beta(plus(BLANK, 1, 0, 0.25, 0.1, 0.2), 0) == (2.55, 4.45)


def test_outcomes_fade_by_their_half_life() -> None:
    stats = plus(BLANK._replace(half_life_ms=HOUR), *[1] * 8)
    assert compute_beta(stats, HOUR) == (5, 1)
    assert compute_beta(plus(stats, 0, now=HOUR), 2 * HOUR) == (3, 1.5)


def test_fading_outcomes_are_weighed_the_same_from_any_base() -> None:
    early = BLANK._replace(half_life_ms=HOUR)
    late = early._replace(base_ms=5 * HOUR)
    for now in (5 * HOUR, 6 * HOUR, 9 * HOUR):
        early, late = plus(early, 0.75, now=now), plus(late, 0.75, now=now)
    assert compute_beta(early, 10 * HOUR) == pytest.approx(compute_beta(late, 10 * HOUR))


def test_an_outcome_counts_once_where_the_clock_is_behind() -> None:
    stats = OutcomeStats(0, 0, 0, base_ms=5_000_000, half_life_ms=1)
    assert compute_beta(plus(stats, 1, now=0), 0) == (2, 1)


def test_a_rebase_keeps_what_outcomes_count_for() -> None:
    stats = plus(BLANK._replace(half_life_ms=HOUR), 1, 1, 0.5)
    moved = rebase(stats, 3 * HOUR, HOUR)
    for now in (3 * HOUR, 10 * HOUR):
        assert compute_beta(moved, now) == pytest.approx(compute_beta(stats, now))
    assert (moved.base_ms, moved.outcomes) == (3 * HOUR, 3)


def test_a_rebase_is_needed_before_sums_outgrow_a_number() -> None:
    stats = BLANK._replace(half_life_ms=HOUR)
    assert not needs_rebase(stats, 60 * HOUR)
    assert needs_rebase(stats, 60 * HOUR + 1)
    assert not needs_rebase(BLANK, 10**6 * HOUR)


def test_a_half_life_applies_from_when_it_is_set() -> None:
    before = workflow("roi", plus(BLANK, 1))
    fading = revise_workflow(before, b"null", "PT1H", HOUR, 5 * HOUR, reset=False)
    assert compute_beta(fading.stats, 5 * HOUR) == (2, 1)
    assert compute_beta(fading.stats, 6 * HOUR) == (1.5, 1)
    lasting = revise_workflow(fading, b"null", None, None, 6 * HOUR, reset=False)
    assert compute_beta(lasting.stats, 9 * HOUR) == (1.5, 1)
    assert (lasting.version, lasting.updated_at) == (3, 6 * HOUR)


def test_a_reset_forgets_outcomes_and_the_same_again_changes_nothing() -> None:
    before = workflow("roi", plus(BLANK, 1))
    blank = revise_workflow(before, b"null", None, None, HOUR, reset=True)
    assert (blank.stats, blank.version) == (BLANK._replace(base_ms=HOUR), 2)
    assert revise_workflow(blank, b"null", None, None, 2 * HOUR, reset=True) is blank


def regret_after_a_change(half_life: int | None, rng: Random) -> float:
    """Return what a run loses once the better of two workflows has become the worse."""
    arms = dict.fromkeys("ab", BLANK._replace(half_life_ms=half_life))
    lost = 0.0
    for now in range(ROUNDS):
        changed = now >= ROUNDS // 2
        means = {"a": 0.3, "b": 0.7} if changed else {"a": 0.7, "b": 0.3}
        chosen = select(arms, rng, now)
        arms[chosen] = plus(arms[chosen], float(rng.random() < means[chosen]), now=now)
        lost += changed * (0.7 - means[chosen])
    return lost


def test_fading_outcomes_adapt_to_a_change() -> None:
    lost = {
        half_life: sum(regret_after_a_change(half_life, Random(seed)) for seed in range(5))  # noqa: S311
        for half_life in (None, ROUNDS // 20)
    }
    assert lost[ROUNDS // 20] < lost[None] / 3

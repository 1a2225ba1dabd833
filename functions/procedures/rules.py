"""Thompson sampling over Beta(alpha, beta) (ADR-043 Tier 4); pure decisions."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from functions.procedures.model import BILLION, Evidence, Standing, Workflow

_MOST_HALF_LIVES = 60  # of weight before numbers are written anew; DynamoDB's have 38 digits


def posterior(evidence: Evidence, now: int) -> tuple[float, float]:
    """Alpha and beta at a moment: one each, and what the outcomes count for by then."""
    fading = BILLION * _weight(evidence, now)
    return 1 + evidence.successes / fading, 1 + evidence.failures / fading


def counted(evidence: Evidence, score: float, now: int) -> tuple[int, int]:
    """What an outcome adds to successes and failures."""
    weight = _weight(evidence, now)
    success = round(score * BILLION)
    return round(success * weight), round((BILLION - success) * weight)


def outgrown(evidence: Evidence, now: int) -> bool:
    """Whether the evidence is to be written anew before more is added."""
    half_life = evidence.half_life
    return half_life is not None and now - evidence.base > _MOST_HALF_LIVES * half_life


def renewed(evidence: Evidence, now: int, half_life: int | None) -> Evidence:
    """The same evidence as seen from now, which fades by `half_life` from here on."""
    weight = _weight(evidence, now)
    return replace(
        evidence,
        successes=round(evidence.successes / weight),
        failures=round(evidence.failures / weight),
        base=now,
        half_life=half_life,
    )


def standing(workflow: Workflow, now: int) -> Standing:
    """A workflow as it stands at a moment."""
    return Standing(workflow, *posterior(workflow.evidence, now))


def selected(workflows: Sequence[Workflow], now: int, luck: Random) -> Standing:
    """The workflow whose sample from its Beta(alpha, beta) is the highest."""
    stand = [standing(each, now) for each in workflows]
    drawn = [replace(each, sampled=luck.betavariate(each.alpha, each.beta)) for each in stand]
    return max(drawn, key=lambda each: each.sampled or 0.0)


def _weight(evidence: Evidence, now: int) -> float:
    """What an outcome counts for now, if one at `base` counts for 1.

    Never less, since another function's clock may be behind the one that wrote `base`.
    """
    if evidence.half_life is None:
        return 1.0
    half_lives = (now - evidence.base) / evidence.half_life
    return float(2.0 ** max(0.0, min(half_lives, 1000.0)))

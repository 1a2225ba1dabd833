"""Decide which facts are merged, ended and weakened; pure. The time is an argument."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from functions.consolidation.model import ConsolidationRules, ConsolidationStep, Reason
from functions.consolidation.spelling import get_letters, is_near, normalize
from functions.facts.model import Fact
from functions.facts.rules import add_change, end_fact
from functions.identity.model import SERVICE
from functions.platform.limits import MAX_FACT_RUNS, MAX_REPLACED_FACTS

DECAY = 0.8  # of the confidence that is left, for each time of disuse
DEFAULT_RULES = ConsolidationRules("P7D", "P90D", 0.2)


@dataclass
class _Alike:
    """Facts that say the same; the first one has the most evidence."""

    normal: str
    facts: list[Fact]
    reason: Reason = "same_spelling"

    @property
    def kept(self) -> Fact:
        return self.facts[0]

    @property
    def stated_at(self) -> int:
        return max(map(get_statement_time, self.facts))


def plan_steps(
    facts: Iterable[Fact], single_valued: Collection[str], rules: ConsolidationRules, now: int
) -> list[ConsolidationStep]:
    """Plan the steps for the facts about a subject: at most one for each fact.

    A fact that has ended or does not hold yet has no step. A fact whose step was undone has none
    until it is learned again.
    """
    present = [each for each in facts if _holds(each, now) and not _is_settled(each)]
    chains = defaultdict[object, list[Fact]](list)
    for fact in present:
        chains[fact.chain].append(fact)
    steps = [
        step
        for chain in chains.values()
        for step in _plan_chain(chain, now, is_single=chain[0].predicate in single_valued)
    ]
    changed = {before.fact_id for step in steps for before, _ in step.changes}
    others = (each for each in present if each.fact_id not in changed)
    return steps + [step for each in others if (step := _weaken(each, rules, now)) is not None]


def _holds(fact: Fact, now: int) -> bool:
    return fact.valid_from <= now and (fact.valid_until is None or fact.valid_until > now)


def _is_settled(fact: Fact) -> bool:
    last = fact.changes[-1] if fact.changes else None
    return last is not None and last["change"] == "undone" and int(last["time"]) >= fact.updated_at


def get_statement_time(fact: Fact) -> int:
    """Return the time of a statement: its own date, or the time when it was last learned."""
    is_dated = fact.valid_from < fact.first_learned_at or fact.valid_from > fact.updated_at
    return fact.valid_from if is_dated else fact.updated_at


def _plan_chain(facts: Sequence[Fact], now: int, *, is_single: bool) -> list[ConsolidationStep]:
    groups = group_alike(each for each in facts if each.valid_until is None)
    if not is_single or len(groups) < 2:
        return [_merge(each, now) for each in groups if len(each.facts) > 1]
    latest = max(groups, key=lambda each: each.stated_at)
    others = (fact for each in groups if each is not latest for fact in each.facts)
    ended = [each for each in others if get_statement_time(each) < latest.stated_at]
    steps = [_merge(latest, now)] if len(latest.facts) > 1 else []
    if ended:
        steps.append(_end(ended[:MAX_REPLACED_FACTS], latest, now, is_named=not steps))
    return steps


def group_alike(facts: Iterable[Fact]) -> list[_Alike]:
    """Group facts of one chain that say the same, those with the most evidence first."""
    by_normal: dict[str, _Alike] = {}
    near: dict[str, list[_Alike]] = defaultdict(list)
    evidence = attrgetter("learned_count", "updated_at", "fact_id")
    for fact in sorted(facts, key=evidence, reverse=True):
        normal = normalize(fact.object)
        found = by_normal.get(normal)
        if found is None:
            alike = near[get_letters(normal)]
            found = next((each for each in alike if is_near(each.normal, normal)), None)
            if found is None:
                found = by_normal[normal] = _Alike(normal, [])
                alike.append(found)
            else:
                found.reason = "near_identical"
        found.facts.append(fact)
    return list(by_normal.values())


def _merge(alike: _Alike, now: int) -> ConsolidationStep:
    """Keep the fact with the most evidence, and add the evidence of the others."""
    kept, *others = alike.facts[: MAX_REPLACED_FACTS + 1]
    facts = (kept, *others)
    runs = dict.fromkeys(run for each in (*others, kept) for run in each.learned_from_run_ids)
    merged = kept._replace(
        learned_count=sum(each.learned_count for each in facts),
        learned_from_run_ids=tuple(runs)[-MAX_FACT_RUNS:],
        confidence=max(each.confidence for each in facts),
        first_learned_at=min(each.first_learned_at for each in facts),
        valid_from=min(each.valid_from for each in facts),
        updated_at=max(each.updated_at for each in facts),
        recalled_at=max(each.recalled_at for each in facts),
        weakened=min(each.weakened for each in facts),
    )
    changes = [(kept, add_change(merged, "evidence_added", now, SERVICE.id))]
    for each in others:
        ended = each._replace(valid_until=now, merged_into=kept.fact_id)
        changes.append((each, add_change(ended, "merged", now, SERVICE.id)))
    return ConsolidationStep("merged", alike.reason, tuple(changes), facts, kept.fact_id)


def _end(ended: Sequence[Fact], latest: _Alike, now: int, *, is_named: bool) -> ConsolidationStep:
    """End facts at the time when the later one was stated.

    Args:
        is_named: whether the report names the later fact; each fact is in one step of a run.
    """
    time, kept = latest.stated_at, latest.kept
    changes = [(each, end_fact(each, time, now, SERVICE.id)) for each in ended]
    if is_named:
        ids = [each.fact_id for each in ended]
        others = (each for each in kept.replaced_facts if each not in ids)
        changes.append((kept, kept._replace(replaced_facts=(*others, *ids)[-MAX_REPLACED_FACTS:])))
    return ConsolidationStep("ended", "contradicted", tuple(changes), tuple(ended), kept.fact_id)


def _weaken(fact: Fact, rules: ConsolidationRules, now: int) -> ConsolidationStep | None:
    """Lower the confidence of a fact that was not used for a time, and end it below a threshold."""
    decay_ms = rules.decay_ms
    if decay_ms is None:
        return None
    times = (now - fact.used_at) // decay_ms
    earlier = (int(each["time"]) for each in fact.changes if each["change"] == "weakened")
    known = fact.weakened if max(earlier, default=0) >= fact.used_at else 0
    if times <= known:
        return None
    confidence = round(fact.confidence * DECAY ** (times - known), 6)
    weakened = fact._replace(confidence=confidence, weakened=times)
    if confidence < rules.end_below:
        ended = end_fact(weakened, now, now, SERVICE.id)
        return ConsolidationStep("ended", "low_confidence", ((fact, ended),), (fact,))
    if confidence == fact.confidence:
        return None
    after = add_change(weakened, "weakened", now, SERVICE.id)
    return ConsolidationStep("weakened", "not_used", ((fact, after),), (fact,))

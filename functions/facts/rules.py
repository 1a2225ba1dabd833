"""Derive the id of a fact, merge a fact that is learned again, and end one."""

from collections.abc import Mapping
from hashlib import blake2b

from functions.facts.model import Fact, FactChange
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps
from functions.platform.keys import build_id
from functions.platform.limits import MAX_FACT_CHANGES, MAX_FACT_PERIODS, MAX_FACT_RUNS


def derive_fact_id(subject: str, predicate: str, what: str, user_id: str | None = None) -> str:
    """Derive the id of a fact from its subject, predicate and object, and from its user."""
    text = dumps(
        [subject, predicate, what] if user_id is None else [subject, predicate, what, user_id]
    )
    return build_id("fact", blake2b(text, digest_size=16, person=b"fact").digest())


def relearn(known: Fact | None, learned: Fact, token: RequestToken | None) -> Fact:
    """Merge a stored fact with a newly learned one of the same id.

    If the statement is the same, the new confidence applies, and fields that the new fact leaves
    out keep their values. Example: a fact that two runs learned has `learned_count` 2 and both
    run ids. If the statement differs, it replaces the stored one, and `learned_count` restarts.
    """
    requests = None if known is None else known.requests
    if token is not None:
        requests = token.add_to(requests)
    if known is None:
        return learned._replace(requests=requests)
    if known.statement != learned.statement:
        return learned._replace(created_at=known.created_at, requests=requests)
    count = known.learned_count if known.merged_into is None else 0
    runs = [run for run in known.learned_from_run_ids if run not in learned.learned_from_run_ids]
    merged = learned._replace(
        agent_type=learned.agent_type or known.agent_type,
        learned_from_run_id=learned.learned_from_run_id or known.learned_from_run_id,
        metadata=known.metadata if learned.metadata is None else learned.metadata,
        created_at=known.created_at,
        learned_from_run_ids=(*runs, *learned.learned_from_run_ids)[-MAX_FACT_RUNS:],
        learned_count=count + 1,
        first_learned_at=known.first_learned_at,
        requests=requests,
        has_chain=known.has_chain,
        replaced_facts=known.replaced_facts,
        earlier_periods=known.earlier_periods,
        changes=known.changes,
    )
    return _continue_validity(known, merged)


def _continue_validity(known: Fact, merged: Fact) -> Fact:
    """Extend the validity of a fact: a fact that has ended gets another period.

    Example: a customer moves to Rome, to Paris, and to Rome again. The fact "lives in Rome" has an
    earlier period, and one that begins with the last move.
    """
    is_dated = merged.valid_from != merged.updated_at
    if known.valid_until is None or merged.valid_from < known.valid_until:
        start = merged.valid_from if is_dated else known.valid_from
        end = merged.valid_until or known.valid_until
        return merged._replace(valid_from=start, valid_until=end)
    periods = (*known.earlier_periods, (known.valid_from, known.valid_until))
    return add_change(
        merged._replace(earlier_periods=periods[-MAX_FACT_PERIODS:], replaced_facts=()),
        "held_again",
        merged.updated_at,
        merged.learned_by,
    )


def end_fact(fact: Fact, end: int, now: int, actor: str) -> Fact:
    """End a fact at a time; a fact that begins later never holds."""
    ended = fact._replace(valid_until=max(end, fact.valid_from))
    return add_change(ended, "ended", now, actor)


def add_change(fact: Fact, change: FactChange, now: int, actor: str) -> Fact:
    """Record a change in a fact, which keeps the newest 20."""
    noted: Mapping[str, str | int] = {"time": now, "actor": actor, "change": change}
    return fact._replace(changes=(*fact.changes, noted)[-MAX_FACT_CHANGES:])

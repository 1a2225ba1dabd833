"""Derive the id of a fact, and merge a fact that is learned again."""

from hashlib import blake2b

from functions.facts.model import Fact
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps
from functions.platform.limits import MAX_FACT_RUNS
from functions.platform.run_keys import build_fact_id


def derive_fact_id(subject: str, predicate: str, what: str, user_id: str | None = None) -> str:
    """Derive the id of a fact from its subject, predicate and object, and from its user."""
    text = dumps(
        [subject, predicate, what] if user_id is None else [subject, predicate, what, user_id]
    )
    return build_fact_id(blake2b(text, digest_size=16, person=b"fact").digest())


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
    runs = [run for run in known.learned_from_run_ids if run not in learned.learned_from_run_ids]
    return learned._replace(
        agent_type=learned.agent_type or known.agent_type,
        learned_from_run_id=learned.learned_from_run_id or known.learned_from_run_id,
        metadata=known.metadata if learned.metadata is None else learned.metadata,
        created_at=known.created_at,
        learned_from_run_ids=(*runs, *learned.learned_from_run_ids)[-MAX_FACT_RUNS:],
        learned_count=known.learned_count + 1,
        first_learned_at=known.first_learned_at,
        requests=requests,
    )

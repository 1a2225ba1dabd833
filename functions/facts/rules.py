"""The id of a fact, and what becomes of one that is learned again."""

from hashlib import blake2b

from functions.facts.model import Fact
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps
from functions.platform.limits import MAX_FACT_RUNS
from functions.platform.run_keys import build_fact_id


def derive_fact_id(subject: str, predicate: str, what: str) -> str:
    """Derive the id of a fact from what it says."""
    text = dumps([subject, predicate, what])
    return build_fact_id(blake2b(text, digest_size=16, person=b"fact").digest())


def relearn(known: Fact | None, learned: Fact, token: RequestToken | None) -> Fact:
    """Merge a fact that is known with the one that is learned in its place.

    Another statement under the same id begins anew. The same one takes the later confidence, and
    keeps what the later one doesn't say.
    """
    requests = None if known is None else known.requests
    if token is not None:
        requests = token.add_to(requests)
    if known is None:
        return learned._replace(requests=requests)
    if known.triple != learned.triple:
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

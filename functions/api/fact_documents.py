"""How facts look to callers (ADR-043 Tier 3; contract §8)."""

from typing import Any

import orjson

from functions.api.documents import Document
from functions.facts.model import Fact, Recalled
from functions.platform.clock import to_rfc3339


def fact_document(fact: Fact) -> Document:
    """A fact, in the seed's words; its metadata are spliced in as they were stored."""
    metadata: Any = None if fact.metadata is None else orjson.Fragment(fact.metadata)
    return {
        "fact_id": fact.id,
        "agent_type": fact.agent_type,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "confidence": fact.confidence,
        "learned_from_run_id": fact.run,
        "learned_by": fact.learner,
        "metadata": metadata,
        "version": fact.version,
        "created_at": to_rfc3339(fact.created),
        "updated_at": to_rfc3339(fact.updated),
    }


def recalled_document(recalled: Recalled) -> Document:
    """A fact with its score."""
    return fact_document(recalled.fact) | {"score": recalled.score}

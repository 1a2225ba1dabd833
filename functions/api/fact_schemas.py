"""What answers about facts look like (ADR-043 Tier 3)."""

from functions.api.documents import Document
from functions.api.schema_words import STRING, TIME, VERSION, array_of, maybe, object_of, ref

_FACT = object_of(
    fact_id=STRING,
    agent_type=maybe(STRING),
    subject=STRING,
    predicate=STRING,
    object=STRING,
    confidence={"type": "number", "minimum": 0, "maximum": 1},
    learned_from_run_id=maybe(STRING),
    learned_by=STRING,
    metadata=maybe({"type": "object"}),
    version=VERSION,
    created_at=TIME,
    updated_at=TIME,
)

FACTS: dict[str, Document] = {
    "Fact": _FACT,
    "RecalledFact": object_of(**_FACT["properties"], score={"type": "number"}),
    "Recalled": object_of(facts=array_of(ref("RecalledFact"))),
}
"""By name, for the OpenAPI document."""

"""What answers about procedures and working values look like (ADR-043 Tiers 1 and 4)."""

from functions.api.documents import Document
from functions.api.schema_words import COUNT, STRING, TIME, VERSION, maybe, object_of, page_of

_SHARE: Document = {"type": "number", "minimum": 0, "maximum": 1}
_PARAMETER: Document = {"type": "number", "minimum": 1}
_WORKFLOW = object_of(
    agent_type=STRING,
    task_type=STRING,
    workflow_id=STRING,
    spec={},
    half_life=maybe(STRING),
    alpha=_PARAMETER,
    beta=_PARAMETER,
    mean=_SHARE,
    outcomes=COUNT,
    version=VERSION,
    created_at=TIME,
    updated_at=TIME,
)

PROCEDURES: dict[str, Document] = {
    "Workflow": _WORKFLOW,
    "WorkflowPage": page_of("procedures", "Workflow"),
    "SelectedWorkflow": object_of(**_WORKFLOW["properties"], sampled=_SHARE),
    "WorkingValue": object_of(
        instance_id=STRING, key=STRING, value={}, updated_at=TIME, expires_at=TIME
    ),
    "WorkingValues": object_of(
        instance_id=STRING, values={"type": "object"}, total_bytes=COUNT, max_bytes=COUNT
    ),
}
"""By name, for the OpenAPI document."""

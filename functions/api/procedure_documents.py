"""How procedures and working values look to callers (ADR-043 Tiers 1 and 4; contract §8)."""

import orjson

from functions.api.documents import Document
from functions.platform.clock import to_rfc3339
from functions.platform.limits import MAX_INSTANCE_BYTES
from functions.procedures.model import WorkflowStats
from functions.working_values.model import ValuesByKey, WorkingValue, total_bytes


def workflow_document(stats: WorkflowStats) -> Document:
    """A workflow with its Beta(alpha, beta)."""
    workflow, alpha, beta = stats.workflow, stats.alpha, stats.beta
    return {
        "agent_type": workflow.procedure.agent_type,
        "task_type": workflow.procedure.task_type,
        "workflow_id": workflow.id,
        "spec": orjson.Fragment(workflow.spec),
        "half_life": workflow.half_life_text,
        "alpha": alpha,
        "beta": beta,
        "mean": alpha / (alpha + beta),
        "outcomes": workflow.stats.outcomes,
        "version": workflow.version,
        "created_at": to_rfc3339(workflow.created),
        "updated_at": to_rfc3339(workflow.updated),
    }


def working_document(instance: str, key: str, value: WorkingValue) -> Document:
    """A working value; it is spliced in as it was stored."""
    return {
        "instance_id": instance,
        "key": key,
        "value": orjson.Fragment(value.text),
        "updated_at": to_rfc3339(value.updated),
        "expires_at": to_rfc3339(value.expires),
    }


def held_document(instance: str, values: ValuesByKey) -> Document:
    """All working values of an instance, by their keys."""
    return {
        "instance_id": instance,
        "values": {key: orjson.Fragment(value.text) for key, value in sorted(values.items())},
        "total_bytes": total_bytes(values.values()),
        "max_bytes": MAX_INSTANCE_BYTES,
    }

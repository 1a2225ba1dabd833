"""Procedures and working values, as the API shows them (ADR-043 Tiers 1 and 4)."""

from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import (
    VALUE,
    Count,
    JsonValue,
    PagePosition,
    Probability,
    Timestamp,
    UncountedPosition,
    Version,
)
from functions.platform.limits import MAX_INSTANCE_BYTES
from functions.procedures.model import TaskType, WorkflowStats
from functions.working_values.model import ValuesByKey, WorkingValue, total_bytes

BetaParameter = Annotated[float, Field(ge=1)]


class WorkflowDocument(TypedDict):
    """A workflow, and what was learned of it."""

    agent_type: str
    """A label that groups runs, such as `sdr`; no boundary."""
    task_type: str
    workflow_id: str
    spec: NotRequired[Annotated[JsonValue, VALUE]]
    half_life: str | None
    alpha: BetaParameter
    beta: BetaParameter
    mean: Probability
    outcomes: Count
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp


class SelectedWorkflowDocument(WorkflowDocument):
    """The workflow that was selected."""

    sampled: Probability
    """The draw from its Beta(alpha, beta)."""


class WorkflowPageDocument(PagePosition):
    """A page of workflows."""

    procedures: list[WorkflowDocument]


class TaskTypeDocument(TypedDict):
    """A type of task with the number of its workflows."""

    task_type: str
    workflows: Count


class TaskTypePageDocument(UncountedPosition):
    """A page of types of task, by their names."""

    task_types: list[TaskTypeDocument]


class WorkingValueDocument(TypedDict):
    """A working value of an instance."""

    instance_id: str
    """The instance of the agent."""
    key: str
    value: NotRequired[Annotated[JsonValue, VALUE]]
    updated_at: Timestamp
    expires_at: Timestamp
    """The time of its expiry. It is not found afterwards."""


class WorkingValuesDocument(TypedDict):
    """All working values of an instance, by their keys."""

    instance_id: str
    """The instance of the agent."""
    values: NotRequired[Annotated[dict[str, JsonValue], VALUE]]
    total_bytes: Count
    max_bytes: Count


def render_workflow(stats: WorkflowStats) -> WorkflowDocument:
    """Render a workflow with its Beta(alpha, beta)."""
    workflow, alpha, beta = stats.workflow, stats.alpha, stats.beta
    return to_document(
        workflow,
        WorkflowDocument,
        **workflow.procedure._asdict(),
        alpha=alpha,
        beta=beta,
        mean=alpha / (alpha + beta),
        outcomes=workflow.stats.outcomes,
    )


def render_task_type(found: TaskType) -> TaskTypeDocument:
    return to_document(found, TaskTypeDocument)


def render_working_value(instance: str, key: str, value: WorkingValue) -> WorkingValueDocument:
    """Render a working value; it is copied as it is stored."""
    return to_document(value, WorkingValueDocument, instance_id=instance, key=key)


def render_working_values(instance: str, values: ValuesByKey) -> WorkingValuesDocument:
    return {
        "instance_id": instance,
        "values": {key: orjson.Fragment(value.value) for key, value in sorted(values.items())},
        "total_bytes": total_bytes(values),
        "max_bytes": MAX_INSTANCE_BYTES,
    }

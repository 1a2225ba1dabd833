"""Workflows that are selected by their results.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.document import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow(Model):
    """A workflow and its results.

    Attributes:
        agent_type: A label that groups runs, such as `sdr`. It does not limit access.
        spec: Absent without `memory.read`.
        version: Counts the changes; send it as If-Match.
    """

    agent_type: str
    task_type: str
    workflow_id: str
    spec: Any = None
    half_life: str | None = None
    alpha: float
    beta: float
    mean: float
    outcomes: int
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedWorkflow(Workflow):
    """The workflow to try next.

    Attributes:
        sampled: The sample from its Beta(alpha, beta).
    """

    sampled: float

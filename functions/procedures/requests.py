"""Bodies of requests about procedures (ADR-043)."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from functions.platform.limits import MAX_BETA_PARAMETER
from functions.platform.validation import RequestModel


class LearnedStats(RequestModel):
    """The learned success of a workflow: a Beta distribution, and its number of outcomes."""

    model_config = ConfigDict(strict=False)

    alpha: Annotated[float, Field(ge=1, le=MAX_BETA_PARAMETER, allow_inf_nan=False, strict=True)]
    beta: Annotated[float, Field(ge=1, le=MAX_BETA_PARAMETER, allow_inf_nan=False, strict=True)]
    outcomes: Annotated[int, Field(ge=0, le=MAX_BETA_PARAMETER, strict=True)]


class NewWorkflow(RequestModel):
    """Body of `PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}`."""

    spec: Any
    half_life: str | None = None
    reset: bool = False
    learned: LearnedStats | None = None
    """The initial statistics of a new workflow, such as one from another deployment. An existing
    workflow keeps its statistics."""


class Selection(RequestModel):
    """Body of `POST /api/v1/procedures/{agent_type}/{task_type}/select` (optional)."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Outcome(RequestModel):
    """Body of `POST …/{workflow_id}/outcome`."""

    model_config = ConfigDict(strict=False)

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]

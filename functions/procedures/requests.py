"""Bodies of requests about procedures (ADR-043, contract §8)."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from functions.platform.validation import RequestModel


class NewWorkflow(RequestModel):
    """Body of `PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}`."""

    spec: Any
    half_life: str | None = None
    reset: bool = False


class Selection(RequestModel):
    """Body of `POST /api/v1/procedures/{agent_type}/{task_type}/select`; it may be left out."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Outcome(RequestModel):
    """Body of `POST …/{workflow_id}/outcome`."""

    model_config = ConfigDict(strict=False)

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]

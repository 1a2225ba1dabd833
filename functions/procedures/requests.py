"""Bodies of requests about procedures (ADR-043, contract §8)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class NewWorkflow(BaseModel):
    """Body of `PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    spec: Any
    half_life: str | None = None
    reset: bool = False


class Selection(BaseModel):
    """Body of `POST /api/v1/procedures/{agent_type}/{task_type}/select`; it may be left out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Outcome(BaseModel):
    """Body of `POST …/{workflow_id}/outcome`."""

    model_config = ConfigDict(extra="forbid")

    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]

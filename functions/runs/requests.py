"""Bodies of requests about runs and episodes (ADR-043 Tier 2; contract §8)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from functions.platform.fields import AgentId, Identifier
from functions.platform.limits import MAX_LABEL_CHARACTERS, MAX_TURN
from functions.runs.model import Sensitivity

Label = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARACTERS)]


class NewRun(BaseModel):
    """Body of `POST /api/v1/runs`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    agent_type: AgentId
    instance_id: Identifier | None = None
    input: Any = None
    sensitivity: Sensitivity | None = None


class RunOutput(BaseModel):
    """Body of `POST /api/v1/runs/{run_id}/complete`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    output: Any = None


class RunError(BaseModel):
    """Body of `POST /api/v1/runs/{run_id}/fail`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    error: Any = None


class NewEpisode(BaseModel):
    """Body of `POST /api/v1/runs/{run_id}/episodes`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    content: Any
    role: Label | None = None
    kind: Label | None = None
    turn: Annotated[int, Field(ge=0, le=MAX_TURN)] | None = None
    metadata: dict[str, Any] | None = None
    sensitivity: Sensitivity | None = None

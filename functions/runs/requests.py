"""Bodies of requests about runs and episodes (ADR-043 Tier 2)."""

from typing import Annotated, Any

from pydantic import Field

from functions.platform.limits import MAX_LABEL_CHARACTERS, MAX_TURN
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import AgentId, Identifier, RequestModel

Label = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARACTERS)]


class NewRun(RequestModel):
    """Body of `POST /api/v1/runs`."""

    agent_type: AgentId
    """A label that groups runs, such as `sdr`. It does not limit access."""
    instance_id: Identifier | None = None
    """The instance of the agent."""
    input: Any = None
    """Any JSON, at most {MAX_RUN_VALUE_BYTES}, such as recalled episodes and the selected
    workflow."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""


class RunOutput(RequestModel):
    """Body of `POST /api/v1/runs/{run_id}/complete`."""

    output: Any = None
    """Any JSON, at most {MAX_RUN_VALUE_BYTES}."""


class RunError(RequestModel):
    """Body of `POST /api/v1/runs/{run_id}/fail`."""

    error: Any = None
    """Any JSON, at most {MAX_RUN_VALUE_BYTES}."""


class NewEpisode(RequestModel):
    """Body of `POST /api/v1/runs/{run_id}/episodes`."""

    content: Any
    """Any JSON, at most {MAX_EPISODE_BYTES}."""
    role: Label | None = None
    kind: Label | None = None
    """Your own label, such as `tool_call` or `observation`."""
    turn: Annotated[int, Field(ge=0, le=MAX_TURN)] | None = None
    """The turn of the run to which the episode belongs."""
    metadata: dict[str, Any] | None = None
    """At most {MAX_EPISODE_METADATA_BYTES} of JSON."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""

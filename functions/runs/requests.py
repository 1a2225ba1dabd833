"""Bodies of requests about runs and episodes (ADR-043 Tier 2)."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from functions.platform.limits import MAX_LABEL_CHARACTERS, MAX_TURN
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import (
    AgentId,
    Identifier,
    ImportedId,
    ImportedTime,
    RequestModel,
    mark_imported,
)

Label = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARACTERS)]


class NewRun(RequestModel):
    """Body of `POST /api/v1/runs`."""

    model_config = ConfigDict(json_schema_extra=mark_imported("id", "created_at", "created_by"))

    agent_type: AgentId
    """A label that groups runs, such as `sdr`; no boundary."""
    instance_id: Identifier | None = None
    """Which instance of the agent runs."""
    input: Any = None
    """Any JSON, at most 4 MB: recalled episodes and facts, and the workflow selected, say."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""
    id: ImportedId | None = None
    """Of this agent type, and made at `created_at`. Only with `X-Import`."""
    created_at: ImportedTime | None = None
    """Only with `X-Import`."""
    created_by: ImportedId | None = None
    """Only with `X-Import`."""


class RunEnd(RequestModel):
    """The end of a run."""

    model_config = ConfigDict(json_schema_extra=mark_imported("ended_at", "ended_by"))

    ended_at: ImportedTime | None = None
    """Only with `X-Import`."""
    ended_by: ImportedId | None = None
    """Only with `X-Import`."""


class RunOutput(RunEnd):
    """Body of `POST /api/v1/runs/{run_id}/complete`."""

    output: Any = None
    """Any JSON, at most 4 MB."""


class RunError(RunEnd):
    """Body of `POST /api/v1/runs/{run_id}/fail`."""

    error: Any = None
    """Any JSON, at most 4 MB."""


class NewEpisode(RequestModel):
    """Body of `POST /api/v1/runs/{run_id}/episodes`."""

    model_config = ConfigDict(json_schema_extra=mark_imported("id", "created_at", "created_by"))

    content: Any
    """Any JSON, at most 262,144 bytes."""
    role: Label | None = None
    kind: Label | None = None
    """What it is, in a word of yours: `tool_call`, `observation`."""
    turn: Annotated[int, Field(ge=0, le=MAX_TURN)] | None = None
    """The turn of the run that it belongs to."""
    metadata: dict[str, Any] | None = None
    """At most 65,536 bytes of JSON."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""
    id: ImportedId | None = None
    """Made at `created_at`. Only with `X-Import`."""
    created_at: ImportedTime | None = None
    """Only with `X-Import`."""
    created_by: ImportedId | None = None
    """Only with `X-Import`."""

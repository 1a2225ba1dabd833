"""Runs and episodes, as the API shows them (ADR-043 Tier 2; contract §8)."""

from typing import Annotated, Any, NotRequired, cast

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.types import (
    VALUE,
    Count,
    JsonObject,
    JsonValue,
    PagePosition,
    Timestamp,
    Version,
)
from functions.platform.clock import to_optional_rfc3339, to_rfc3339
from functions.platform.sensitivity import Sensitivity
from functions.runs.model import Episode, Run, RunStatus

RunId = Annotated[str, Field(pattern="^run_")]


class RunDocument(TypedDict):
    """A run of an agent."""

    id: RunId
    agent_type: str
    """A label that groups runs, such as `sdr`; no boundary."""
    instance_id: str | None
    """Which instance of the agent runs."""
    status: RunStatus
    input: NotRequired[Annotated[JsonValue, VALUE]]
    """Absent without `memory.read`."""
    output: NotRequired[Annotated[JsonValue, VALUE]]
    """Absent without `memory.read`."""
    error: NotRequired[Annotated[JsonValue, VALUE]]
    """Absent without `memory.read`."""
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes."""
    created_at: Timestamp
    created_by: str
    ended_at: Timestamp | None
    ended_by: str | None
    expires_at: Timestamp
    """From this moment on it is gone, as if it had never been."""


class RunPageDocument(PagePosition):
    """A page of runs."""

    runs: list[RunDocument]


class EpisodeDocument(TypedDict):
    """An episode of a run."""

    id: Annotated[str, Field(pattern="^epi_")]
    run_id: RunId
    """The run that it belongs to."""
    agent_type: NotRequired[str]
    """In lists; an append doesn't look it up."""
    content: NotRequired[Annotated[Any, VALUE]]
    """Absent without `memory.read`."""
    role: NotRequired[str]
    kind: NotRequired[str]
    """What it is, in a word of yours: `tool_call`, `observation`."""
    turn: NotRequired[Count]
    """The turn of the run that it belongs to."""
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    created_at: Timestamp
    created_by: str
    expires_at: Timestamp
    """From this moment on it is gone, as if it had never been."""


class EpisodePageDocument(TypedDict):
    """A page of episodes, newest first."""

    episodes: list[EpisodeDocument]
    limit: Version
    next: NotRequired[str]
    """Give it as `before` to go on; absent on the last page."""


def render_run(run: Run) -> RunDocument:
    """Render a run; input, output and error are copied as they are stored."""
    return {
        "id": run.id,
        "agent_type": run.agent_type,
        "instance_id": run.instance,
        "status": run.status,
        "input": orjson.Fragment(run.input),
        "output": orjson.Fragment(run.output),
        "error": orjson.Fragment(run.error),
        "sensitivity": run.sensitivity,
        "version": run.version,
        "created_at": to_rfc3339(run.created),
        "created_by": run.author,
        "ended_at": to_optional_rfc3339(run.ended),
        "ended_by": run.ender,
        "expires_at": to_rfc3339(run.expires),
    }


def render_episode(episode: Episode, agent_type: str | None = None) -> EpisodeDocument:
    """Render an episode: its members before the JSON that is stored.

    Args:
        episode: the episode.
        agent_type: its run's; None after an append, which doesn't read the run.
    """
    members = {
        "id": episode.id,
        "run_id": episode.run,
        **({} if agent_type is None else {"agent_type": agent_type}),
        "sensitivity": episode.sensitivity,
        "created_at": to_rfc3339(episode.created),
        "created_by": episode.author,
        "expires_at": to_rfc3339(episode.expires),
    }
    rendered = orjson.Fragment(orjson.dumps(members)[:-1] + b"," + episode.text[1:])
    return cast("EpisodeDocument", rendered)

"""Documents of runs and episodes (ADR-043 Tier 2)."""

from typing import Annotated, Any, NotRequired, cast

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonObject,
    JsonValue,
    PagePosition,
    Timestamp,
    Version,
    to_document,
)
from functions.platform.sensitivity import Sensitivity
from functions.platform.values import UNREADABLE
from functions.runs.model import AgentType, Episode, Run, RunStatus, RunValue
from functions.runs.rules import RUN_VALUES, select_values

RunId = Annotated[str, Field(pattern="^run_")]


class RunHeadDocument(TypedDict):
    """A run of an agent without its values."""

    id: RunId
    agent_type: str
    """A label that groups runs, such as `sdr`. It does not limit access."""
    instance_id: str | None
    """The instance of the agent."""
    status: RunStatus
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    version: Version
    """Counts the changes."""
    created_at: Timestamp
    created_by: str
    ended_at: Timestamp | None
    ended_by: str | None
    expires_at: Timestamp
    """The time of its expiry. It is not found afterwards."""


class RunDocument(RunHeadDocument):
    """A run of an agent."""

    input: NotRequired[Annotated[JsonValue, VALUE]]
    """Absent without `memory.read`, or where `omitted` names it."""
    output: NotRequired[Annotated[JsonValue, VALUE]]
    """Absent without `memory.read`, or where `omitted` names it."""
    error: NotRequired[Annotated[JsonValue, VALUE]]
    """Absent without `memory.read`, or where `omitted` names it."""
    unreadable: NotRequired[bool]
    """True if a stored value was damaged or moved; it is shown as `{"unreadable": true}`."""
    omitted: NotRequired[list[RunValue]]
    """The values that don't fit into this response: request each with `value`."""


class RunPageDocument(PagePosition):
    """A page of runs."""

    runs: list[RunDocument]


class DeletedRunsDocument(TypedDict):
    """The numbers of deleted runs and episodes."""

    deleted: Count
    """The number of deleted runs."""
    episodes: Count
    """The number of episodes that were deleted with them."""
    complete: bool
    """False if time ran out before all were deleted: send the request again."""


class AgentTypeDocument(TypedDict):
    """An agent type that a tenant uses."""

    agent_type: str
    last_used_at: Timestamp
    """The last time that a run, a fact or a workflow named it, to within a day."""


class AgentTypePageDocument(PagePosition):
    """A page of agent types."""

    agent_types: list[AgentTypeDocument]


class EpisodeDocument(TypedDict):
    """An episode of a run."""

    id: Annotated[str, Field(pattern="^epi_")]
    run_id: RunId
    """The run that it belongs to."""
    agent_type: NotRequired[str]
    """In lists; an append doesn't look it up."""
    content: NotRequired[Annotated[Any, VALUE]]
    role: NotRequired[str]
    kind: NotRequired[str]
    """Your own label, such as `tool_call` or `observation`."""
    turn: NotRequired[Count]
    """The turn of the run to which the episode belongs."""
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    unreadable: NotRequired[bool]
    """True if the stored content was damaged or moved."""
    sensitivity: Sensitivity | None
    """`confidential` and `restricted` values are stored encrypted."""
    created_at: Timestamp
    created_by: str
    expires_at: Timestamp
    """The time of its expiry. It is not found afterwards."""


class EpisodePageDocument(TypedDict):
    """A page of episodes, newest first."""

    episodes: list[EpisodeDocument]
    limit: Version
    next: NotRequired[str]
    """The value of `after` for the next page; absent on the last page."""


def render_run(run: Run) -> RunDocument:
    """Render a run with those of its stored values that fit into a response."""
    selected = select_values(run)
    omitted = [name for name in RUN_VALUES if name not in selected]
    document = render_run_head(run)
    for name in selected:
        _add_value(document, run, name)
    if omitted:
        document["omitted"] = omitted
    return document


def render_run_value(run: Run, name: RunValue) -> RunDocument:
    document = render_run_head(run)
    _add_value(document, run, name)
    return document


def _add_value(document: RunDocument, run: Run, name: RunValue) -> None:
    text: bytes = getattr(run, name)
    document[name] = orjson.Fragment(text)
    if text is UNREADABLE:
        document["unreadable"] = True


def render_agent_type(agent_type: AgentType) -> AgentTypeDocument:
    return to_document(agent_type, AgentTypeDocument)


def render_run_head(run: Run) -> RunDocument:
    """Render a run without its values."""
    return cast("RunDocument", to_document(run, RunHeadDocument))


def render_episode(episode: Episode, agent_type: str | None = None) -> EpisodeDocument:
    """Render an episode: its fields before the stored JSON.

    Args:
        agent_type: of its run; None after an append, which doesn't read the run.
    """
    known = {} if agent_type is None else {"agent_type": agent_type}
    members = orjson.dumps(to_document(episode, EpisodeDocument, **known))
    rendered = orjson.Fragment(members[:-1] + b"," + episode.text[1:])
    return cast("EpisodeDocument", rendered)

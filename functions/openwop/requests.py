"""Bodies of requests about runs and memories (OpenWOP RFC 0004 §A)."""

from typing import Annotated, Any, Self

from pydantic import Field, SecretStr, model_validator

from functions.openwop.model import Edition, OnSecret
from functions.platform import limits
from functions.platform.validation import AgentId, Name, RequestModel, Timestamp

RunDuration = (
    Annotated[int, Field(ge=0, le=10**9)]
    | Annotated[str, Field(max_length=limits.MAX_TTL_CHARACTERS)]
)
"""Seconds, or an ISO 8601 duration such as `P2D`."""


class Secret(RequestModel):
    """A secret of a run; `value` never shows in a representation."""

    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    value: Annotated[
        SecretStr,
        Field(min_length=limits.MIN_SECRET_CHARACTERS, max_length=limits.MAX_SECRET_CHARACTERS),
    ]
    """At least {MIN_SECRET_CHARACTERS} characters that are not white space. All secrets of a run
    have up to {MAX_SECRETS_BYTES} together."""


class NewMemoryRun(RequestModel):
    """Body of `POST /v1/runs`; it names an agent, memories or a run to replay."""

    agent: AgentId | None = None
    """The agent of the memory; any name. It is ignored beside a reference."""
    scope: Name | None = None
    """The name of one of the agent's memories."""
    memory_ref: str | None = Field(default=None, alias="memoryRef")
    """The memory that the run is on."""
    memory_refs: (
        Annotated[list[str], Field(min_length=1, max_length=limits.MAX_RUN_MEMORIES)] | None
    ) = Field(default=None, alias="memoryRefs")
    """The memories that the run is on, all as of one moment."""
    replay_of: str | None = Field(
        default=None, alias="replayOf", max_length=limits.MAX_ID_CHARACTERS
    )
    """The run whose snapshot this run reads."""
    secrets: Annotated[list[Secret], Field(max_length=limits.MAX_SECRETS)] = Field(default=[])
    """The secrets to redact in all puts into the run's memories while the run is open."""
    on_secret: OnSecret = Field(default="redact", alias="onSecret")
    """The treatment of a secret in a put of the run."""
    redaction_marker: Edition | None = Field(default=None, alias="redactionMarker")
    """The edition whose marker replaces a secret in puts of the run: `<REDACTED:label>` or
    `[REDACTED:label]`; the deployment's setting by default."""
    ttl: RunDuration | None = None
    """The time for which the run stays open, unless it is ended;
    {DEFAULT_OPENWOP_RUN_LIFETIME} by default, {MAX_OPENWOP_RUN_LIFETIME} at most."""
    retain_snapshot: RunDuration | None = Field(default=None, alias="retainSnapshot")
    """The time for which the snapshot is kept after the run; {DEFAULT_SNAPSHOT_RETENTION} by
    default, {MAX_SNAPSHOT_RETENTION} at most, 0 for not at all."""

    @property
    def memory_name(self) -> tuple[str | None, str | None]:
        """The agent and scope that name its memory; a reference names it without them."""
        has_reference = self.memory_ref is not None or self.memory_refs is not None
        return (None, None) if has_reference else (self.agent, self.scope)

    @model_validator(mode="after")
    def _name_what_it_is_on(self) -> Self:
        references = [self.memory_ref is not None, self.memory_refs is not None]
        if all(references):
            raise ValueError("send memoryRef or memoryRefs, not both")
        names = self.agent is not None or self.scope is not None
        if self.replay_of is not None and (names or any(references)):
            raise ValueError(
                "a replay uses the memories of its run; leave out memoryRef and memoryRefs"
            )
        if self.replay_of is None and self.agent is None and not any(references):
            raise ValueError("send agent, memoryRef, memoryRefs, or replayOf")
        return self


class NewMemory(RequestModel):
    """Body of `POST /v1/memories`."""

    agent: AgentId
    """The agent of the memory; any name."""
    scope: Name | None = None
    """The name of one of the agent's memories."""


class NewSecrets(RequestModel):
    """Body of `POST /v1/runs/{runId}/secrets`; one secret may be given instead of a list."""

    secrets: Annotated[list[Secret], Field(min_length=1, max_length=limits.MAX_SECRETS)]
    """The secrets to redact in all puts from now on."""

    @model_validator(mode="before")
    @classmethod
    def _list_one(cls, document: Any) -> Any:
        is_one = isinstance(document, dict) and document.keys() == {"label", "value"}
        return {"secrets": [document]} if is_one else document


class NewMemoryEntry(RequestModel):
    """Body of `POST /v1/memory/{memoryRef}`."""

    content: str
    """At most {MAX_OPENWOP_ENTRY_BYTES} of UTF-8."""
    tags: Annotated[
        list[Annotated[str, Field(max_length=limits.MAX_OPENWOP_TAG_CHARACTERS)]],
        Field(max_length=limits.MAX_TAGS),
    ] = Field(default=[])
    """Labels to query by."""
    expires_at: Timestamp | None = Field(default=None, alias="expiresAt")
    """The time of its expiry: lists and gets don't show it afterwards."""
    run_id: str | None = Field(default=None, alias="runId", max_length=limits.MAX_ID_CHARACTERS)
    """The run that puts it, which must be open."""

"""Bodies of requests about runs and memories (OpenWOP RFC 0004 §A, contract §7)."""

from typing import Annotated

from pydantic import Field, SecretStr

from functions.openwop.model import OnSecret
from functions.platform.limits import (
    MAX_ID_CHARACTERS,
    MAX_OPENWOP_TAG_CHARACTERS,
    MAX_SECRET_CHARACTERS,
    MAX_SECRETS,
    MAX_TAGS,
)
from functions.platform.validation import AgentId, Name, RequestModel, Timestamp


class Secret(RequestModel):
    """A secret of a run; `value` never shows in a representation."""

    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    value: Annotated[SecretStr, Field(min_length=1, max_length=MAX_SECRET_CHARACTERS)]
    """At most 65,536 bytes with the others."""


class NewMemoryRun(RequestModel):
    """Body of `POST /v1/runs`."""

    agent: AgentId
    """Whose memory it is; any name."""
    scope: Name | None = None
    """Which of the agent's memories."""
    secrets: Annotated[list[Secret], Field(max_length=MAX_SECRETS)] = Field(default=[])
    """What the run's puts must not persist."""
    on_secret: OnSecret = Field(default="redact", alias="onSecret")
    """What a put does with a secret."""


class NewMemoryEntry(RequestModel):
    """Body of `POST /v1/memory/{memoryRef}`."""

    content: str
    """At most 65,536 bytes of UTF-8."""
    tags: Annotated[
        list[Annotated[str, Field(max_length=MAX_OPENWOP_TAG_CHARACTERS)]],
        Field(max_length=MAX_TAGS),
    ] = Field(default=[])
    """Labels to query by."""
    expires_at: Timestamp | None = Field(default=None, alias="expiresAt")
    """From this moment on no list and no get shows it."""
    run_id: str | None = Field(default=None, alias="runId", max_length=MAX_ID_CHARACTERS)

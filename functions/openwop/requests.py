"""Bodies of requests about runs and memories (OpenWOP RFC 0004 §A, contract §7)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from functions.openwop.model import OnSecret
from functions.platform.fields import AgentId, Moment, Name
from functions.platform.limits import (
    MAX_ID_CHARACTERS,
    MAX_OPENWOP_TAG_CHARACTERS,
    MAX_SECRET_CHARACTERS,
    MAX_SECRETS,
    MAX_TAGS,
)


class Secret(BaseModel):
    """A secret of a run; `value` never shows in a representation."""

    model_config = ConfigDict(extra="forbid", strict=True)

    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    value: Annotated[SecretStr, Field(min_length=1, max_length=MAX_SECRET_CHARACTERS)]


class NewMemoryRun(BaseModel):
    """Body of `POST /v1/runs`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    agent: AgentId
    scope: Name | None = None
    secrets: Annotated[list[Secret], Field(max_length=MAX_SECRETS)] = []
    on_secret: OnSecret = Field(default="redact", alias="onSecret")


class NewMemoryEntry(BaseModel):
    """Body of `POST /v1/memory/{memoryRef}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    content: str
    tags: Annotated[
        list[Annotated[str, Field(max_length=MAX_OPENWOP_TAG_CHARACTERS)]],
        Field(max_length=MAX_TAGS),
    ] = []
    expires_at: Moment | None = Field(default=None, alias="expiresAt")
    run_id: str | None = Field(default=None, alias="runId", max_length=MAX_ID_CHARACTERS)

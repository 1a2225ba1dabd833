"""The settings of the local server."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from functions.platform import limits
from functions.platform.embedding_models import MAX_DIMENSIONS

REAL_AWS = "aws"
_EMBEDDING = ("MODEL", "URL", "KEY", "DIMENSIONS")
_KEY = "visible ASCII characters without spaces"
_ADDRESS = "an address that begins with http:// or https://"


class StartupError(Exception):
    """The server can't start or continue; the message names the remedy in one line."""


class LocalSettings(BaseModel):
    """The user's settings; an empty variable counts as unset.

    Attributes:
        port: the port to listen on; 0 takes any free port.
        host: a name or address of this machine.
        data: the data folder, absolute.
        root_key: the operator's key; None uses the one in the data folder.
        sweep_seconds: the time between two runs of the scheduled function.
        openwop: the edition of OpenWOP to serve, `rfc-0004` or `1.x`.
        searchable_conversations: whether searches find the messages of conversations that do not
            set `searchable`.
        learning_url: an OpenAI-compatible endpoint that learns from conversations; None for none.
        model: the name of its model.
        learning_key: its key; None if it needs none.
        learning_tokens_per_day, learning_requests_per_day: the maximum of each that strategies use
            on a day; 0 is no limit.
        embedding_model: `openai:NAME`, a model at `embedding_url`; None for the packaged one.
        embedding_url, embedding_key, embedding_dimensions: as in the functions' settings. Their
            variables may have the functions' names, too, without `AGENT_MEMORY_`.
        log_retention_days: the lifetime of events and audit records; 0 keeps them forever.
        principal_requests_per_minute, tenant_requests_per_minute: the maximum number of requests
            of each; 0 is no limit.
        dynamodb: an endpoint's URL, `aws` for the real DynamoDB, None for the embedded engine.
    """

    model_config = ConfigDict(frozen=True)

    port: int = Field(default=8080, ge=0, le=65535)
    host: str = "127.0.0.1"
    data: Path = Path(".agent-memory")
    root_key: str | None = Field(
        default=None,
        min_length=limits.MIN_ROOT_KEY_CHARACTERS,
        pattern=r"^[!-~]+$",
        description=_KEY,
    )
    sweep_seconds: float = Field(default=60, gt=0, le=86_400, allow_inf_nan=False)
    dynamodb: str | None = Field(
        default=None,
        pattern=rf"^(https?://.+|{REAL_AWS})$",
        description=f"{_ADDRESS}, or {REAL_AWS}",
    )
    openwop: Literal["rfc-0004", "1.x"] = "rfc-0004"
    searchable_conversations: bool = True
    learning_url: str | None = Field(default=None, pattern=r"^https?://.+$", description=_ADDRESS)
    model: str = Field(
        default="default", min_length=1, pattern=r"^[^,]+$", description="a name without commas"
    )
    learning_key: str | None = Field(default=None, pattern=r"^[!-~]+$", description=_KEY)
    learning_tokens_per_day: int = Field(default=limits.DEFAULT_MODEL_TOKENS, ge=0)
    learning_requests_per_day: int = Field(default=limits.DEFAULT_MODEL_REQUESTS, ge=0)
    embedding_model: str | None = Field(
        default=None, pattern=r"^openai:[^ ]+$", description="openai: and the name of a model"
    )
    embedding_url: str | None = Field(default=None, pattern=r"^https?://.+$", description=_ADDRESS)
    embedding_key: str | None = Field(default=None, pattern=r"^[!-~]+$", description=_KEY)
    embedding_dimensions: int = Field(default=0, ge=0, le=MAX_DIMENSIONS)
    log_retention_days: int = Field(default=365, ge=0, le=limits.MAX_LOG_RETENTION_DAYS)
    principal_requests_per_minute: int = Field(default=limits.DEFAULT_PRINCIPAL_REQUESTS, ge=0)
    tenant_requests_per_minute: int = Field(default=limits.DEFAULT_TENANT_REQUESTS, ge=0)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the variables of the environment."""
        shared = {name: environ.get(f"EMBEDDING_{name}") for name in _EMBEDDING}
        found = {f"embedding_{name.lower()}": each for name, each in shared.items() if each}
        found |= {field: environ[name] for field, name in VARIABLES.items() if environ.get(name)}
        try:
            settings = cls.model_validate(found)
        except ValidationError as error:
            raise StartupError("; ".join(map(_describe, error.errors()))) from error
        return settings.model_copy(update={"data": settings.data.expanduser().absolute()})


def _describe(problem: ErrorDetails) -> str:
    field, said = str(problem["loc"][0]), problem["msg"]
    if problem["type"] == "string_pattern_mismatch":
        said = f"must be {LocalSettings.model_fields[field].description}"
    return f"{VARIABLES[field]}: {said}"


VARIABLES = {
    name: f"AGENT_MEMORY_{name.upper().replace('LEARNING', 'MODEL')}"
    for name in LocalSettings.model_fields
} | {"dynamodb": "AWS_ENDPOINT_URL_DYNAMODB"}
"""The variables of the settings, by field."""

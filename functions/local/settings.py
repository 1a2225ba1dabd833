"""The settings of the local server (contract §1)."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from functions.local.failure import CannotServe

REAL_AWS = "aws"
_MOST_BY_DEFAULT = 8  # workers; the engine keeps no more of them busy
_VARIABLES = {
    "port": "AGENT_MEMORY_PORT",
    "host": "AGENT_MEMORY_HOST",
    "data": "AGENT_MEMORY_DATA",
    "workers": "AGENT_MEMORY_WORKERS",
    "root_key": "AGENT_MEMORY_ROOT_KEY",
    "sweep_seconds": "AGENT_MEMORY_SWEEP_SECONDS",
    "dynamodb": "AWS_ENDPOINT_URL_DYNAMODB",
    "openwop": "AGENT_MEMORY_OPENWOP",
}


def _cores() -> int:
    return min(len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1, _MOST_BY_DEFAULT)


class LocalSettings(BaseModel):
    """What the user chose; an empty variable counts as unset.

    Attributes:
        port: where to listen; 0 takes any free port.
        host: a name or address of this machine.
        data: the data folder, absolute.
        workers: how many processes serve, where more than one can.
        root_key: the operator's key; None has one made and kept in the data folder.
        sweep_seconds: how often the scheduled function runs.
        openwop: which edition of OpenWOP is spoken, `rfc-0004` or `1.x`.
        dynamodb: an endpoint's URL, `aws` for the real DynamoDB, None for the embedded engine.
    """

    model_config = ConfigDict(frozen=True)

    port: int = Field(default=8080, ge=0, le=65535)
    host: str = "127.0.0.1"
    data: Path = Path(".agent-memory")
    workers: int = Field(default_factory=_cores, ge=1, le=64)
    root_key: str | None = Field(default=None, min_length=16, pattern=r"^[!-~]+$")
    sweep_seconds: float = Field(default=60, gt=0, le=86_400, allow_inf_nan=False)
    dynamodb: str | None = Field(default=None, pattern=rf"^(https?://.+|{REAL_AWS})$")

    openwop: Literal["rfc-0004", "1.x"] = "rfc-0004"

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Reads the variables of contract §1.

        Raises:
            CannotServe: names each wrong variable and what is wrong with it.
        """
        given = {field: environ[name] for field, name in _VARIABLES.items() if environ.get(name)}
        try:
            settings = cls.model_validate(given)
        except ValidationError as error:
            problems = (f"{_VARIABLES[str(e['loc'][0])]}: {e['msg']}" for e in error.errors())
            raise CannotServe("; ".join(problems)) from error
        return settings.model_copy(update={"data": settings.data.expanduser().absolute()})

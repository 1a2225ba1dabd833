"""Runs and episodes (ADR-043 Tier 2; contract §8). Times are epoch ms."""

from typing import Literal, NamedTuple

from functions.platform.limits import RUN_RETENTION_DAYS
from functions.platform.run_keys import DAY
from functions.platform.sensitivity import Sensitivity

RunStatus = Literal["running", "completed", "failed"]


class Run(NamedTuple):
    """A run. `input`, `output` and `error` are JSON text.

    `request` and `end_request` are the tokens of the requests that started and ended it.
    """

    id: str
    agent_type: str
    instance: str | None
    status: RunStatus
    version: int
    created: int
    author: str
    input: bytes
    output: bytes = b"null"
    error: bytes = b"null"
    ended: int | None = None
    ender: str | None = None
    sensitivity: Sensitivity | None = None
    request: bytes | None = None
    end_request: bytes | None = None

    @property
    def expires(self) -> int:
        return compute_expiry(self.created)


class Episode(NamedTuple):
    """An episode; `text` is a JSON object of its content and of what else was given."""

    id: str
    run: str
    text: bytes
    created: int
    author: str
    sensitivity: Sensitivity | None = None

    @property
    def expires(self) -> int:
        return compute_expiry(self.created)


def compute_expiry(created: int) -> int:
    """Compute until when a run or an episode is kept."""
    return created + RUN_RETENTION_DAYS * DAY

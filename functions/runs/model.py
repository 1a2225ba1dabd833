"""Runs and episodes (ADR-043 Tier 2). Times are epoch ms."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from functions.platform.limits import RUN_RETENTION_DAYS
from functions.platform.run_keys import DAY
from functions.platform.sensitivity import Sensitivity

RunStatus = Literal["running", "completed", "failed"]
RunResult = Literal["output", "error"]
RunValue = Literal["input", RunResult]


class Run(NamedTuple):
    """A run. `input`, `output` and `error` are JSON text.

    `request` and `end_request` are the tokens of the requests that started and ended it.
    """

    id: str
    agent_type: str
    status: RunStatus
    version: int
    created_at: int
    created_by: str
    instance_id: str | None = None
    input: bytes = b"null"
    output: bytes = b"null"
    error: bytes = b"null"
    ended_at: int | None = None
    ended_by: str | None = None
    sensitivity: Sensitivity | None = None
    request: bytes | None = None
    end_request: bytes | None = None

    @property
    def expires_at(self) -> int:
        return compute_expiry(self.created_at)


class RunQuery(NamedTuple):
    """Selects runs of a tenant; a field of None selects all."""

    agent_type: str | None = None
    instance_id: str | None = None
    status: RunStatus | None = None

    def matches(self, row: Mapping[str, str]) -> bool:
        """Tell whether the run of an index row may be selected, by the row's attributes."""
        is_of_type = self.agent_type in (None, row.get("agent_type", self.agent_type))
        return is_of_type and self.status in (None, row["status"])


class Episode(NamedTuple):
    """An episode; `text` is a JSON object of its content and further given fields.

    It is kept as long as its run, until `expires`.
    """

    id: str
    run_id: str
    text: bytes
    created_at: int
    created_by: str
    expires_at: int
    sensitivity: Sensitivity | None = None


class AgentType(NamedTuple):
    """An agent type, its approximate last use (epoch ms), and whether it had workflows."""

    agent_type: str
    last_used_at: int
    has_workflows: bool = False

    def is_listed(self, now: int) -> bool:
        """Tell whether lists show it: it has workflows, or was used lately."""
        return self.has_workflows or compute_expiry(self.last_used_at) > now


def compute_expiry(started: int) -> int:
    """Compute the expiry of a run and its episodes from the time of its start."""
    return started + RUN_RETENTION_DAYS * DAY

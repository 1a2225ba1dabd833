"""Entries, started runs and errors of OpenWOP's memory layer (OpenWOP RFC 0004)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from agent_memory.document import Model
from agent_memory.exceptions import AgentMemoryError, IdempotencyConflictError
from agent_memory.requests import drop_none, render_time

OnSecret = Literal["redact", "reject"]
Duration = str | int | timedelta
"""Seconds, a `timedelta`, or an ISO 8601 duration such as `P2D`."""


def _name(path: str) -> Any:
    """Return the metadata of a field that the document has under another name."""
    return {"path": path}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry(Model):
    """A stored entry."""

    id: str
    content: str
    tags: tuple[str, ...]
    created_at: datetime = field(metadata=_name("createdAt"))
    expires_at: datetime | None = field(default=None, metadata=_name("expiresAt"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMemoryEntry(Model):
    """An entry that a run sees or saw, with its origin.

    Attributes:
        memory_ref: the memory that it is in.
        put_by: the principal that put it; `put_in`: the run, if any.
        deleted_at: when it was deleted, if after the run's start.
    """

    entry: MemoryEntry = field(metadata=_name(""))
    memory_ref: str = field(metadata=_name("memoryRef"))
    put_by: str | None = field(default=None, metadata=_name("putBy"))
    put_in: str | None = field(default=None, metadata=_name("putIn"))
    deleted_at: datetime | None = field(default=None, metadata=_name("deletedAt"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRunState(Model):
    """The state of a run.

    Attributes:
        state: `open`, `ended`, or `expired`.
        is_replayable: whether its snapshot is still kept (until `snapshot_kept_until`).
        secrets: the labels of its secrets, while it is open.
        agent, scope: the name of its memory; None if the run was started by references.
    """

    run_id: str = field(metadata=_name("runId"))
    state: str
    memory_refs: tuple[str, ...] = field(metadata=_name("memoryRefs"))
    snapshot_at: datetime = field(metadata=_name("snapshotAt"))
    started_at: datetime = field(metadata=_name("startedAt"))
    ends_at: datetime = field(metadata=_name("endsAt"))
    snapshot_kept_until: datetime = field(metadata=_name("snapshotKeptUntil"))
    is_replayable: bool = field(metadata=_name("isReplayable"))
    started_by: str = field(metadata=_name("startedBy"))
    secrets: tuple[str, ...]
    agent: str | None = None
    scope: str | None = None
    replay_of: str | None = field(default=None, metadata=_name("replayOf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMemory(Model):
    """A memory of a principal, or of an agent type.

    Attributes:
        memory_ref: the reference; its holder can use the memory.
        agent, scope: the name of the memory.
        principal: the owner; None if `agent_type` owns it.
        created_at: when it was first used.
    """

    memory_ref: str = field(metadata=_name("memoryRef"))
    agent: str
    scope: str | None = None
    principal: str | None = None
    agent_type: str | None = field(default=None, metadata=_name("agentType"))
    created_at: datetime = field(metadata=_name("createdAt"))


class SecretLeakageError(AgentMemoryError):
    """The entry holds secrets, and its run rejects them (422). Nothing was stored."""

    @property
    def labels(self) -> list[str]:
        """The labels of the secrets, never their values."""
        return list(self.problem.get("details", {}).get("labels", ()))


class RunEndedError(AgentMemoryError):
    """The run is over, or its snapshot is no longer kept (409)."""


_ERRORS: dict[str, type[AgentMemoryError]] = {
    "idempotency_key_mismatch": IdempotencyConflictError,
    "run_terminal": RunEndedError,
    "secret_leakage": SecretLeakageError,
}


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise OpenWOP's errors as their own exceptions."""
    try:
        yield
    except AgentMemoryError as error:
        kind = _ERRORS.get(str(error.problem.get("error")))
        if kind is None:
            raise
        raise kind(
            str(error),
            status=error.status,
            code=error.problem["error"],
            request_id=error.request_id,
            problem=error.problem,
            may_have_happened=error.may_have_happened,
        ) from error


def list_secrets(secrets: Mapping[str, str]) -> list[dict[str, str]]:
    """Return secrets by label in the form of the service."""
    return [{"label": label, "value": value} for label, value in secrets.items()]


def run_body(
    given: dict[str, Any],
    secrets: Mapping[str, str] | None,
    on_secret: OnSecret,
    ttl: Duration | None,
    retain_snapshot: Duration | None,
) -> dict[str, Any]:
    """Return the body that starts a run; `given` names its memories."""
    more = drop_none(ttl=render_time(ttl), retainSnapshot=render_time(retain_snapshot))
    return given | {"secrets": list_secrets(secrets or {}), "onSecret": on_secret} | more

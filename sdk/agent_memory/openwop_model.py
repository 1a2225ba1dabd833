"""Entries, started runs and errors of OpenWOP's memory layer (OpenWOP RFC 0004)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

from agent_memory.exceptions import AgentMemoryError, IdempotencyConflictError
from agent_memory.model import Document
from agent_memory.requests import drop_none

OnSecret = Literal["redact", "reject"]
Duration = int | str
"""Seconds, or an ISO 8601 duration such as `P2D`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """An entry, as it was persisted. Times are RFC 3339 texts in UTC."""

    id: str
    content: str
    tags: tuple[str, ...]
    created_at: str
    expires_at: str | None = None

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            id=document["id"],
            content=document["content"],
            tags=tuple(document["tags"]),
            created_at=document["createdAt"],
            expires_at=document.get("expiresAt"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEntry:
    """An entry that a run sees or saw, and what is known of it.

    Attributes:
        memory_ref: the memory that it is in.
        put_by: the principal that put it; `put_in` is the run, if it was put in one.
        deleted_at: when it was deleted, if that was after the run's start.
    """

    entry: MemoryEntry
    memory_ref: str
    put_by: str | None
    put_in: str | None
    deleted_at: str | None

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            entry=MemoryEntry.from_document(document),
            memory_ref=document["memoryRef"],
            put_by=document.get("putBy"),
            put_in=document.get("putIn"),
            deleted_at=document.get("deletedAt"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """The state of a run. Times are RFC 3339 texts in UTC.

    Attributes:
        state: `open`, `ended`, or `expired`.
        is_replayable: whether its snapshot is kept, which it is until `snapshot_kept_until`.
        secrets: the labels of its secrets, while it is open.
        agent: by which the run named its memory, with `scope`; None if it named a reference.
    """

    run_id: str
    state: str
    memory_refs: tuple[str, ...]
    snapshot_at: str
    started_at: str
    ends_at: str
    snapshot_kept_until: str
    is_replayable: bool
    started_by: str
    secrets: tuple[str, ...]
    agent: str | None
    scope: str | None
    replay_of: str | None

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            run_id=document["runId"],
            state=document["state"],
            memory_refs=tuple(document["memoryRefs"]),
            snapshot_at=document["snapshotAt"],
            started_at=document["startedAt"],
            ends_at=document["endsAt"],
            snapshot_kept_until=document["snapshotKeptUntil"],
            is_replayable=document["isReplayable"],
            started_by=document["startedBy"],
            secrets=tuple(document["secrets"]),
            agent=document.get("agent"),
            scope=document.get("scope"),
            replay_of=document.get("replayOf"),
        )


class SecretLeakageError(AgentMemoryError):
    """The entry holds secrets, and its run rejects them (422). Nothing was stored."""

    @property
    def labels(self) -> list[str]:
        """Which secrets; never their values."""
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
    """Raise what OpenWOP's envelope names as an exception of its own."""
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
    """Return secrets by label as the service takes them."""
    return [{"label": label, "value": value} for label, value in secrets.items()]


def run_body(
    given: dict[str, Any],
    secrets: Mapping[str, str] | None,
    on_secret: OnSecret,
    ttl: Duration | None,
    retain_snapshot: Duration | None,
) -> dict[str, Any]:
    """Return the body that starts a run; `given` names what it is on."""
    more = drop_none(ttl=ttl, retainSnapshot=retain_snapshot)
    return given | {"secrets": list_secrets(secrets or {}), "onSecret": on_secret} | more

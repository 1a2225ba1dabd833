"""Entries, started runs and errors of OpenWOP's memory layer (OpenWOP RFC 0004; contract §7)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

from agent_memory.exceptions import AgentMemoryError, IdempotencyConflictError
from agent_memory.model import Document

OnSecret = Literal["redact", "reject"]


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


class SecretLeakageError(AgentMemoryError):
    """The entry holds secrets of its run, which rejects them (422). Nothing was stored."""

    @property
    def labels(self) -> list[str]:
        """Which secrets; never their values."""
        return list(self.problem.get("details", {}).get("labels", ()))


class RunEndedError(AgentMemoryError):
    """The run was ended, or is older than 24 hours (409)."""


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


def run_body(
    agent: str, scope: str | None, secrets: Document | None, on_secret: OnSecret
) -> dict[str, Any]:
    """Return the body that starts a run."""
    listed = [{"label": label, "value": value} for label, value in (secrets or {}).items()]
    body: dict[str, Any] = {"agent": agent, "secrets": listed, "onSecret": on_secret}
    return body if scope is None else body | {"scope": scope}

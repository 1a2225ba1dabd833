"""Runs and episodes (ADR-043 Tier 2; contract §8)."""

from dataclasses import dataclass
from typing import Literal

RunStatus = Literal["running", "completed", "failed"]
Sensitivity = Literal["public", "internal", "confidential", "restricted"]
ENCRYPTED: frozenset[str | None] = frozenset({"confidential", "restricted"})


@dataclass(frozen=True, slots=True)
class Run:
    """A run. Times are epoch ms; `input`, `output` and `error` are JSON text."""

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
    request: bytes | None = None  # under which it was started
    end_request: bytes | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode; `text` is a JSON object of what was given: content, role, kind, turn, metadata.

    `created` is epoch ms.
    """

    id: str
    run: str
    text: bytes
    created: int
    author: str
    sensitivity: Sensitivity | None = None

"""Runs and the entries of their memories (OpenWOP RFC 0004 §A, contract §7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LEAST_REDACTED = 8  # characters; what is shorter would redact ordinary words

OnSecret = Literal["redact", "reject"]


@dataclass(frozen=True, slots=True)
class Run:
    """A run: it sees what its memory held at `position`, until it ends or its time is over."""

    id: str
    position: int
    deadline: int  # epoch ms
    on_secret: OnSecret
    ended: bool = False

    def is_over(self, now: int) -> bool:
        """Whether it has ended, or lived its 24 hours."""
        return self.ended or self.deadline <= now


@dataclass(frozen=True, slots=True)
class StartedRun:
    """What who starts a run is told; `snapshot` is epoch ms."""

    run_id: str
    reference: str
    snapshot: int


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """An entry, as it was persisted; `gone` is the position at which it was deleted."""

    position: int
    luck: str
    content: str
    tags: Sequence[str]
    id: str
    created: int  # epoch ms
    expires: int | None = None  # epoch ms
    gone: int | None = None
    request: bytes | None = None  # key of the Idempotency-Key that it was put under


@dataclass(frozen=True, slots=True)
class Listing:
    """Which entries a list asks for.

    `tag` filters; `before` is the position of the last entry that was seen; `at_once` is how
    many it will probably take.
    """

    tag: str | None
    before: int | None
    at_once: int

"""Runs and the entries of their memories (OpenWOP RFC 0004 §A, contract §7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LEAST_REDACTED = 8  # characters; shorter secrets would redact ordinary words

OnSecret = Literal["redact", "reject"]


@dataclass(frozen=True, slots=True)
class MemoryRun:
    """A run: it sees what its memory held at the number `snapshot`, until it is closed.

    `deadline` is epoch ms.
    """

    id: str
    snapshot: int
    deadline: int
    on_secret: OnSecret
    ended: bool = False

    def is_closed(self, now: int) -> bool:
        """Whether the run was ended, or has lived its 24 hours."""
        return self.ended or self.deadline <= now


@dataclass(frozen=True, slots=True)
class StartedRun:
    """The response to the start of a run; `snapshot_at` is epoch ms."""

    run_id: str
    reference: str
    snapshot_at: int


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """An entry as it was stored.

    `sequence` and `deleted` are the sequence numbers at which it was written and deleted; times are
    epoch ms; `request` is the key of the Idempotency-Key that it was put under.
    """

    sequence: int
    suffix: str
    content: str
    tags: Sequence[str]
    id: str
    created: int
    expires: int | None = None
    deleted: int | None = None
    request: bytes | None = None


@dataclass(frozen=True, slots=True)
class EntryListQuery:
    """What a list asks for.

    `tag` filters; `before` is the sequence number of the last entry that was seen; `page_size` is
    how many entries the caller will probably take.
    """

    tag: str | None
    before: int | None
    page_size: int

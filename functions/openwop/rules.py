"""Rules of references, snapshots and the lifetimes of runs (OpenWOP RFC 0004 §A, §E)."""

import hmac
import re
from collections.abc import Callable, Iterable

from functions.identity.model import Principal
from functions.openwop.model import MemoryEntry, MemoryOwner, MemoryRun
from functions.platform import limits
from functions.platform.clock import parse_milliseconds
from functions.platform.errors import (
    AccessDenied,
    NotFound,
    RunEnded,
    ValidationFailed,
    ValueTooLarge,
)
from functions.platform.openwop_keys import build_memory_run_id, build_reference, parse_reference

SETTLING_TIME = 3_000  # ms; then every transaction that had begun is visible completely
CLOCK_SKEW = 60_000  # ms; the largest difference of two functions' clocks
_DAY = 86_400_000  # ms
_LOOK_INTERVAL = 3_600_000  # ms between two checks of a deleted entry that an open run sees
_NOTHING = re.compile(r"(duration:)?P[0.,YMWDTHS]+")
GivenDuration = int | str
"""A number of seconds, or an ISO 8601 duration."""


def find_owner(caller: Principal) -> MemoryOwner:
    """Find the owner of the memories that a caller names by agent and scope."""
    if caller.agent_type is not None:
        return MemoryOwner("agent_type", caller.agent_type)
    return MemoryOwner("principal", caller.id)


def is_visible(entry: MemoryEntry, snapshot: int | None, now: int) -> bool:
    """Tell whether a snapshot shows an entry; for None, whether the entry exists at present.

    An expired entry is visible nowhere.
    """
    if entry.expires_at is not None and entry.expires_at <= now:
        return False
    if snapshot is None:
        return entry.deleted is None
    return entry.sequence < snapshot and (entry.deleted is None or entry.deleted > snapshot)


def compute_next_look(kept_until: int, now: int, *, is_any_open: bool) -> int:
    """Compute when to check again a deleted entry that runs see until `kept_until`.

    An open run may be ended before, so that its snapshot expires earlier.
    """
    return min(kept_until, now + _LOOK_INTERVAL) if is_any_open else kept_until


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Drop empty tags (§G) and repetitions."""
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def parse_run_lifetime(ttl: GivenDuration | None) -> int:
    """Parse the lifetime of an open run, in ms; 24 hours by default."""
    lifetime = limits.DEFAULT_OPENWOP_RUN_LIFETIME if ttl is None else _parse(ttl, "ttl")
    if not 0 < lifetime <= limits.MAX_OPENWOP_RUN_LIFETIME:
        most = limits.MAX_OPENWOP_RUN_LIFETIME // _DAY
        raise ValidationFailed("ttl", f"must be longer than 0 and at most {most} days")
    return lifetime


def parse_retention(retain_snapshot: GivenDuration | None) -> int:
    """Parse how long a run's snapshot is kept after it is closed, in ms."""
    if retain_snapshot is None:
        return limits.DEFAULT_SNAPSHOT_RETENTION
    retention = _parse(retain_snapshot, "retainSnapshot")
    if retention > limits.MAX_SNAPSHOT_RETENTION:
        raise ValidationFailed(
            "retainSnapshot", f"must be at most {limits.MAX_SNAPSHOT_RETENTION // _DAY} days"
        )
    return retention


def _parse(duration: GivenDuration, field: str) -> int:
    """Parse seconds or an ISO 8601 duration, with or without the prefix `duration:`, into ms."""
    if isinstance(duration, int):
        return duration * 1000
    if _NOTHING.fullmatch(duration):
        return 0
    return parse_milliseconds(duration, field) or 0


def assert_not_expired(expires: int | None, now: int) -> None:
    """Check an entry's `expiresAt` (§E)."""
    if expires is not None and expires <= now:
        raise ValidationFailed("expiresAt", "must be in the future")


def assert_content_fits(content: str) -> None:
    """Check the length of an entry's content."""
    size = len(content.encode())
    if size > limits.MAX_OPENWOP_ENTRY_BYTES:
        raise ValueTooLarge(
            "the content is too large", max=limits.MAX_OPENWOP_ENTRY_BYTES, actual=size
        )


def run_not_found() -> NotFound:
    """Build the error for a run that this tenant, or this memory, does not have."""
    return NotFound("no run has this id, or the run is on another memory")


def assert_open(run: MemoryRun | None, now: int, memory: str | None = None) -> MemoryRun:
    """Return a run if it is open, and on a memory if one is given."""
    if run is None or memory not in (None, *run.memories):
        raise run_not_found()
    if run.is_closed(now):
        raise RunEnded("this run has ended; start another one, or replay it")
    return run


def snapshot_gone() -> RunEnded:
    """Build the error for a run whose snapshot is no longer kept."""
    return RunEnded("the snapshot of this run is no longer kept; start another run")


_PURPOSE = b"agent-memory: references to OpenWOP memories"
_SEED_BYTES = 16


class MemoryReferences:
    """Builds and verifies references, and builds ids of runs."""

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def make_reference(self, tenant: str, memory: str) -> str:
        """Build the reference of a tenant's memory, which is always the same."""
        return build_reference(self._seed("memory", tenant, memory), memory)

    def resolve(self, tenant: str, text: str) -> str:
        """Find the memory that a reference names, by its hash."""
        memory = parse_reference(text)
        if memory is None or not hmac.compare_digest(text, self.make_reference(tenant, memory)):
            raise AccessDenied("this memoryRef was not issued to your tenant")
        return memory

    def make_run_id(self, tenant: str, request: bytes) -> str:
        """Build the id of the run that a request starts, which is the same for a retry."""
        return build_memory_run_id(self._seed("run", tenant, request.hex()))

    def _seed(self, *parts: str) -> bytes:
        message = "\n".join(parts).encode()
        return hmac.digest(self._derive_key(_PURPOSE), message, "sha256")[:_SEED_BYTES]

"""What a snapshot shows, and what no run can see any more (OpenWOP RFC 0004 §A, §E)."""

from collections.abc import Iterable

from functions.openwop.model import MemoryEntry
from functions.platform.errors import ValidationFailed, ValueTooLarge
from functions.platform.limits import MAX_OPENWOP_ENTRY_BYTES
from functions.platform.snapshot_keys import moment_of_position

SETTLED = 3_000  # ms, after which every transaction that had begun shows as a whole
GRACE = 60_000  # ms by which the clocks of two functions may differ


def shows(entry: MemoryEntry, snapshot: int | None, now: int) -> bool:
    """Whether an entry shows in the snapshot at a position, or, for None, at present.

    What has expired shows in none.
    """
    if entry.expires is not None and entry.expires <= now:
        return False
    if snapshot is None:
        return entry.gone is None
    return entry.position < snapshot and (entry.gone is None or entry.gone > snapshot)


def is_held(written: int, removed: int, snapshots: Iterable[int]) -> bool:
    """Whether an entry written and removed at these positions shows in one of the snapshots."""
    return any(written < snapshot < removed for snapshot in snapshots)


def is_settled(position: int, now: int) -> bool:
    """Whether each run that was started before this position can be seen."""
    return moment_of_position(position) + SETTLED <= now


def kept_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags without empty ones (§G), each once."""
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def assert_lasting(expires: int | None, now: int) -> None:
    """Raises `ValidationFailed` for an entry that would have expired already (§E)."""
    if expires is not None and expires <= now:
        raise ValidationFailed("expiresAt", "lies in the past")


def assert_fits(content: str) -> None:
    """Raises `ValueTooLarge` for a content that is longer than an entry's may be."""
    size = len(content.encode())
    if size > MAX_OPENWOP_ENTRY_BYTES:
        raise ValueTooLarge("the content is too large", max=MAX_OPENWOP_ENTRY_BYTES, actual=size)

"""What a snapshot shows, and what no run can see any more (OpenWOP RFC 0004 §A, §E)."""

from collections.abc import Iterable

from functions.openwop.model import MemoryEntry
from functions.platform.errors import NotFound, RunEnded, ValidationFailed, ValueTooLarge
from functions.platform.limits import MAX_OPENWOP_ENTRY_BYTES
from functions.platform.openwop_keys import get_timestamp_of_sequence

SETTLING_TIME = 3_000  # ms after which every transaction that had begun is visible as a whole
CLOCK_SKEW = 60_000  # ms by which the clocks of two functions may differ


def is_visible(entry: MemoryEntry, snapshot: int | None, now: int) -> bool:
    """Whether a snapshot shows an entry, or, for None, whether the entry exists at present.

    An expired entry is visible nowhere.
    """
    if entry.expires is not None and entry.expires <= now:
        return False
    if snapshot is None:
        return entry.deleted is None
    return entry.sequence < snapshot and (entry.deleted is None or entry.deleted > snapshot)


def is_pinned(written: int, deleted: int, snapshots: Iterable[int]) -> bool:
    """Whether one of the snapshots shows an entry written and deleted at these numbers."""
    return any(written < snapshot < deleted for snapshot in snapshots)


def is_settled(sequence: int, now: int) -> bool:
    """Whether each run that was started before this sequence number can be seen."""
    return get_timestamp_of_sequence(sequence) + SETTLING_TIME <= now


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Drop empty tags (§G) and repetitions."""
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def assert_not_expired(expires: int | None, now: int) -> None:
    """Check an entry's `expiresAt` (§E).

    Raises:
        ValidationFailed: it is not in the future.
    """
    if expires is not None and expires <= now:
        raise ValidationFailed("expiresAt", "lies in the past")


def assert_content_fits(content: str) -> None:
    """Check the length of an entry's content.

    Raises:
        ValueTooLarge: it has over 65,536 bytes of UTF-8.
    """
    size = len(content.encode())
    if size > MAX_OPENWOP_ENTRY_BYTES:
        raise ValueTooLarge("the content is too large", max=MAX_OPENWOP_ENTRY_BYTES, actual=size)


def run_not_found() -> NotFound:
    """Build the error for a run that is not one of this memory, in this tenant."""
    return NotFound("no run on this memory has this id")


def run_closed() -> RunEnded:
    """Build the error for a run that was ended, or whose 24 hours are over."""
    return RunEnded("this run is over: it was ended, or is older than 24 hours; start another one")

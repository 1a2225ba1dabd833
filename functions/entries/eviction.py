"""The order in which episodic entries are evicted (RFC-0015 §2.2).

Entries of a lower priority come first, then those that their owner used least recently. The index
`by_eviction` sorts by this text, in which a priority is its rank:

    0#01q9gd6e0#…    low, used in May
    1#01q3fz901#…    normal, used in January
    1#01q9gd6e0#…    normal, used in May
    2#01q3fz901#…    high, used in January

`functions.entries.capacity` decides how many entries are evicted.
"""

from functions.entries.tiers import Priority
from functions.platform.keys import decode_timestamp, encode_timestamp

_SEPARATOR = "#"
_PRIORITIES: tuple[Priority, ...] = ("low", "normal", "high")  # their ranks are their positions


def build_rank(priority: Priority) -> str:
    """Build the prefix of the order of all entries of a priority."""
    return str(_PRIORITIES.index(priority))


def build_eviction_order(priority: Priority, accessed: int, nonce: str) -> str:
    """Build the sort key of an entry: the first is evicted first.

    Args:
        accessed: the last access, in epoch ms.
    """
    return _SEPARATOR.join((build_rank(priority), encode_timestamp(accessed), nonce))


def parse_eviction_order(text: str) -> tuple[Priority, int]:
    """Parse the priority and the last access (epoch ms)."""
    rank, accessed, _ = text.split(_SEPARATOR)
    return _PRIORITIES[int(rank)], decode_timestamp(accessed)

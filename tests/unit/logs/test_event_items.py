"""How events are stored: exact, small, and in parts where an item can't hold them."""

import secrets
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from functions.logs.items import MOST_INLINE, event_of, event_writes, pack, part_keys, part_writes
from functions.logs.items import unpacked as text_of
from functions.logs.model import Event, LogName
from functions.platform.items import decode_item, encode_item

LOG = LogName("intent", "i")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def event(data: dict[str, Any]) -> Event:
    """An event with this data."""
    return Event("evt_1", "memory.archived", "acme", "a", "i", "t", data, 1_000, LOG)


def stored_and_read(data: dict[str, Any]) -> Event:
    """What comes back of an event that is written as items."""
    packed = pack(event(data))
    written, _ = event_writes("p", packed, 1)
    item = decode_item(encode_item(written.item or {}))
    parts = {write.key: write.item or {} for write in part_writes("p", packed)}
    keys = part_keys("p", item)
    assert list(parts) == keys
    stored = b"".join(parts[key]["data"] for key in keys) if keys else item["data"]
    return event_of("acme", LOG, item, text_of(stored))


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_what_is_read_is_what_was_written(data: dict[str, Any]) -> None:
    assert stored_and_read(data) == event(data)


def test_large_data_goes_into_parts_that_an_item_holds() -> None:
    data = {"s": secrets.token_hex(3 * MOST_INLINE)}
    packed = pack(event(data))
    sizes = [len((write.item or {})["data"]) for write in part_writes("p", packed)]
    assert len(sizes) > 2
    assert max(sizes) <= MOST_INLINE
    assert packed.inline_bytes < 1_000
    assert stored_and_read(data) == event(data)


def test_what_compresses_is_compressed() -> None:
    packed = pack(event({"s": "x" * 100_000}))
    assert len(packed.data) < 1_000
    assert part_writes("p", packed) == []

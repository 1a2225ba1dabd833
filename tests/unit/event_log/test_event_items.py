"""How events are stored: exact, small, together, and in parts where an item can't hold them."""

import secrets
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from functions.event_log.items import (
    MOST_INLINE,
    MOST_PART,
    event_of,
    events_write,
    pack,
    part_keys,
    part_writes,
    stored_in,
)
from functions.event_log.model import Event, LogName
from functions.platform.items import Item, decode_item, encode_item
from functions.platform.keys import Key

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


def event(data: dict[str, Any], id: str = "evt_1") -> Event:
    """An event with this data."""
    return Event(id, "memory.archived", "acme", "a", "i", "t", data, 1_000, LOG)


def items_of(events: list[Event]) -> tuple[list[Item], dict[Key, Item]]:
    """The items of events, and their parts."""
    packed = list(pack(events))
    items = [
        events_write("p", number, each, 1_000).item or {} for number, each in enumerate(packed)
    ]
    parts = {write.key: write.item or {} for each in packed for write in part_writes("p", each)}
    return [decode_item(encode_item(item)) for item in items], parts


def stored_and_read(events: list[Event]) -> list[Event]:
    """What comes back of events that are written as items."""
    items, parts = items_of(events)
    return [
        event_of("acme", LOG, stored, [parts[key]["data"] for key in part_keys("p", stored)])
        for item in items
        for stored in stored_in(item)
    ]


def size_of(item: Item) -> int:
    """About how many bytes an item takes."""
    long = [item["events"], *item["ids"]]
    return sum(len(each.encode() if isinstance(each, str) else each) for each in long)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=5), max_size=4))
def test_what_is_read_is_what_was_written(data: list[dict[str, Any]]) -> None:
    events = [event(each, f"evt_{number}") for number, each in enumerate(data)]
    assert stored_and_read(events) == events


def test_many_share_items_which_stay_small() -> None:
    events = [event({"key": secrets.token_hex(8)}, f"evt_{number}") for number in range(500)]
    items, parts = items_of(events)
    assert len(items) < 50
    assert max(map(size_of, items)) <= MOST_INLINE
    assert parts == {}
    assert stored_and_read(events) == events


def test_large_data_goes_into_parts_that_an_item_holds() -> None:
    large = event({"s": secrets.token_hex(3 * MOST_PART)})
    items, parts = items_of([event({}, "evt_0"), large, event({}, "evt_2")])
    sizes = [len(part["data"]) for part in parts.values()]
    assert len(sizes) > 2
    assert max(sizes) <= MOST_PART
    assert max(map(size_of, items)) < 1_000
    assert stored_and_read([large]) == [large]


def test_what_compresses_is_compressed() -> None:
    (item,), parts = items_of([event({"s": "x" * 100_000})])
    assert size_of(item) < 1_000
    assert parts == {}

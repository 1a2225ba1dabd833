"""Test how events are stored: exact, small, together, or in parts if they are too large."""

import secrets
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from functions.events.items import (
    MAX_ITEM_BYTES,
    MAX_PART_BYTES,
    LogTime,
    build_events_write,
    build_part_keys,
    build_part_writes,
    decode_event,
    decode_item_events,
    encode_events,
)
from functions.events.model import Event, LogName
from functions.identity.model import Actor
from functions.platform.items import Item, decode_item, encode_item
from functions.platform.keys import Key

LOG = LogName("intent", "i")
ADA = Actor("ada", "agent")
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
    return Event(id, "memory.archived", "acme", "a", ADA, "i", "t", data, 1_000, LOG)


def items_of(events: list[Event]) -> tuple[list[Item], dict[Key, Item]]:
    """The items of events, and their parts."""
    encoded = list(encode_events(events))
    items = [
        build_events_write("p", number, each, LogTime(1_000), None).item or {}
        for number, each in enumerate(encoded)
    ]
    parts = {
        write.key: write.item or {}
        for each in encoded
        for write in build_part_writes("p", each, None)
    }
    return [decode_item(encode_item(item)) for item in items], parts


def stored_and_read(events: list[Event]) -> list[Event]:
    """Write events as items, and return the events that are read from them."""
    items, parts = items_of(events)
    return [
        decode_event(
            "acme",
            LOG,
            stored,
            [parts[key]["data"] for key in build_part_keys("p", stored.id, stored.part_count)],
        )
        for item in items
        for stored in decode_item_events(item)
        if stored is not None
    ]


def size_of(item: Item) -> int:
    long = [item["events"], *item["ids"]]
    return sum(len(each.encode() if isinstance(each, str) else each) for each in long)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=5), max_size=4))
def test_events_are_decoded_as_they_were_encoded(data: list[dict[str, Any]]) -> None:
    events = [event(each, f"evt_{number}") for number, each in enumerate(data)]
    assert stored_and_read(events) == events


def test_a_whole_batch_shares_an_item() -> None:
    events = [event({"key": secrets.token_hex(8)}, f"evt_{number}") for number in range(500)]
    items, parts = items_of(events)
    assert len(items) == 1
    assert max(map(size_of, items)) <= MAX_ITEM_BYTES
    assert parts == {}
    assert stored_and_read(events) == events


def test_large_data_goes_into_parts_that_an_item_holds() -> None:
    large = event({"s": secrets.token_hex(3 * MAX_PART_BYTES)})
    items, parts = items_of([event({}, "evt_0"), large, event({}, "evt_2")])
    sizes = [len(part["data"]) for part in parts.values()]
    assert len(sizes) > 2
    assert max(sizes) <= MAX_PART_BYTES
    assert max(map(size_of, items)) < 1_000
    assert stored_and_read([large]) == [large]


def test_compressible_data_is_compressed() -> None:
    (item,), parts = items_of([event({"s": "x" * 100_000})])
    assert size_of(item) < 1_000
    assert parts == {}


def test_an_item_holds_no_more_events_than_a_position_counts() -> None:
    events = [event({"n": number}, f"evt_{number}") for number in range(2_000)]
    items, _ = items_of(events)
    assert max(len(item["ids"]) for item in items) < 1_000
    assert stored_and_read(events) == events

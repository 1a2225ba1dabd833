"""Finds what is encrypted in the tables, and moves it as an operator could."""

from collections.abc import Iterator

from functions.platform.items import Item, decode_item, encode_item
from tests.contract.service import Service

_SEALED = (
    "value",
    "data_key",
    "value_name",
    "value_parts",
    "value_is_text",
    "metadata",
    "input",
)
_SEALED_OF_OBJECTS = (*_SEALED, "generation")


def find_sealed(service: Service, sort: str = "") -> Iterator[Item]:
    """Find the tenants' items with something encrypted."""
    items = [each for each in map(decode_item, service.stored()) if each["pk"][0] != "~"]
    for each in (each for each in items if each["sk"].startswith(sort)):
        nested = [value for value in each.values() if isinstance(value, dict)]
        if any("data_key" in part for part in (each, *nested)):
            yield each


def write(service: Service, item: Item) -> None:
    service.engine.client.put_item(TableName=service.engine.memory, Item=encode_item(item))


def put_value(service: Service, target: Item, source: Item) -> None:
    """Put what is encrypted in one item, and what says how, into another item."""
    names = _SEALED_OF_OBJECTS if target["sk"].startswith("obj#") else _SEALED
    kept = {name: value for name, value in target.items() if name not in names}
    write(service, kept | {name: source[name] for name in names if name in source})

"""Items between Python and DynamoDB's typed form: exact, and with no reflection."""

from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

Item = dict[str, Any]
Typed = dict[str, dict[str, Any]]  # an item as DynamoDB gives it


def encode(value: Any) -> dict[str, Any]:
    """One attribute in typed form.

    Raises:
        KeyError: a float, None or another type that no attribute of ours has.
    """
    return _ENCODERS[type(value)](value)


def encode_item(item: Item) -> Typed:
    """A whole item in typed form; attributes that are None are left out."""
    return {name: encode(value) for name, value in item.items() if value is not None}


_ENCODERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    str: lambda value: {"S": value},
    bool: lambda value: {"BOOL": value},
    int: lambda value: {"N": str(value)},
    bytes: lambda value: {"B": value},
    set: lambda value: {"SS": sorted(value)},
    frozenset: lambda value: {"SS": sorted(value)},
    list: lambda value: {"L": [encode(each) for each in value]},
    tuple: lambda value: {"L": [encode(each) for each in value]},
    dict: lambda value: {"M": encode_item(value)},
}


def decode(attribute: dict[str, Any]) -> Any:
    """The Python value of one typed attribute, its binary values in base64 or not.

    Raises:
        KeyError: a type that no attribute of ours has.
    """
    ((kind, value),) = attribute.items()
    return _DECODERS[kind](value)


def binary(value: str | bytes) -> bytes:
    """A binary value, in base64 or not."""
    return value if isinstance(value, bytes) else a2b_base64(value)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "S": lambda value: value,
    "N": int,
    "BOOL": lambda value: value,
    "B": binary,
    "SS": frozenset,
    "L": lambda value: [each["S"] if "S" in each else decode(each) for each in value],
    "M": lambda value: {name: decode(each) for name, each in value.items()},
}


def as_it_is(item: Typed) -> Typed:
    """An item that is read later."""
    return item


def decode_item(item: Typed) -> Item:
    """A whole item as Python values; texts and numbers without a call for each."""
    return {
        name: each["S"] if "S" in each else int(each["N"]) if "N" in each else decode(each)
        for name, each in item.items()
    }

"""Items between Python and DynamoDB's typed form: exact, and with no reflection."""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

Item = dict[str, Any]


def encode(value: Any) -> dict[str, Any]:
    """One attribute in typed form.

    Raises:
        KeyError: a float, None or another type that no attribute of ours has.
    """
    return _ENCODERS[type(value)](value)


def encode_item(item: Item) -> dict[str, Any]:
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
    return value if kind in _AS_THEY_ARE else _DECODERS[kind](value)


_AS_THEY_ARE = frozenset({"S", "BOOL"})
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "N": int,
    "B": lambda value: value if isinstance(value, bytes) else b64decode(value),
    "SS": frozenset,
    "L": lambda value: [decode(each) for each in value],
    "M": lambda value: {name: decode(each) for name, each in value.items()},
}


def decode_item(item: dict[str, Any]) -> Item:
    """A whole item as Python values."""
    return {name: decode(attribute) for name, attribute in item.items()}

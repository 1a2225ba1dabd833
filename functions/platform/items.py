"""Convert items between Python and DynamoDB's typed form, exactly."""

from binascii import a2b_base64
from collections.abc import Callable
from typing import Any, TypeVar

from functions.platform.keys import Digest, Key

T = TypeVar("T")
Item = dict[str, Any]
TypedItem = dict[str, dict[str, Any]]
"""An item in DynamoDB's typed form."""


def encode(value: Any) -> dict[str, Any]:
    """Encode an attribute."""
    return _ENCODERS[type(value)](value)


def encode_item(item: Item) -> TypedItem:
    """Encode an item; attributes that are None are left out."""
    return {name: encode(value) for name, value in item.items() if value is not None}


_ENCODERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    str: lambda value: {"S": value},
    Digest: lambda value: {"S": str(value)},
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
    """Decode an attribute; binary values may be in base64."""
    ((kind, value),) = attribute.items()
    return _DECODERS[kind](value)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "S": lambda value: value,
    "N": int,
    "BOOL": lambda value: value,
    "B": lambda value: value if isinstance(value, bytes) else a2b_base64(value),
    "SS": frozenset,
    "L": lambda value: [each["S"] if "S" in each else decode(each) for each in value],
    "M": lambda value: {name: decode(each) for name, each in value.items()},
}


def decode_item(item: TypedItem) -> Item:
    """Decode an item; for speed, texts and numbers without a call for each."""
    return {
        name: each["S"] if "S" in each else int(each["N"]) if "N" in each else decode(each)
        for name, each in item.items()
    }


def to_attributes(model: Any, *apart: str) -> Item:
    """Return the fields of a named tuple or a dataclass as attributes of the same names.

    An empty tuple or set becomes None, which isn't stored.

    Args:
        apart: the names of the fields that are stored in another way.
    """
    fields = {name: getattr(model, name) for name in model.__match_args__}
    for name in apart:
        del fields[name]
    for name, each in fields.items():
        if type(each) in (tuple, frozenset) and not each:
            fields[name] = None
    return fields


def from_attributes(model: type[T], item: Item, **others: Any) -> T:
    """Build a named tuple or a dataclass from attributes of its fields' names.

    A list becomes a tuple; a missing attribute gives the field's default.

    Args:
        others: the fields that are stored in another way.
    """
    names: tuple[str, ...] = getattr(model, "__match_args__", ())
    fields = {name: item[name] for name in names if name in item}
    for name, each in fields.items():
        if type(each) is list:
            fields[name] = tuple(each)
    return model(**fields | others)


def encode_key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def decode_key(attributes: TypedItem) -> Key:
    return attributes["pk"]["S"], attributes["sk"]["S"]


def encode_placeholders(values: Item) -> dict[str, Any]:
    """Encode the placeholders of an expression in typed form."""
    return {f":{name}": encode(value) for name, value in values.items()}

"""Items between Python and DynamoDB's typed form: exact, and with no reflection."""

from typing import Any

Item = dict[str, Any]


def encode(value: Any) -> dict[str, Any]:
    """One attribute in typed form.

    Raises:
        TypeError: a float, None or another type that no attribute of ours has.
    """
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case set() | frozenset():
            return {"SS": sorted(value)}
        case list() | tuple():
            return {"L": [encode(each) for each in value]}
        case dict():
            return {"M": encode_item(value)}
    raise TypeError(f"no attribute holds a {type(value).__name__}")


def encode_item(item: Item) -> dict[str, Any]:
    """A whole item in typed form; attributes that are None are left out."""
    return {name: encode(value) for name, value in item.items() if value is not None}


def decode(attribute: dict[str, Any]) -> Any:
    """The Python value of one typed attribute."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S" | "B" | "BOOL":
            return value
        case "N":
            return int(value)
        case "SS":
            return frozenset(value)
        case "L":
            return [decode(each) for each in value]
        case "M":
            return decode_item(value)
    raise TypeError(f"no attribute of ours is of type {kind}")


def decode_item(item: dict[str, Any]) -> Item:
    """A whole item as Python values."""
    return {name: decode(attribute) for name, attribute in item.items()}

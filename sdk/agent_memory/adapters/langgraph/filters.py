"""LangGraph's filters on values: equality, nested, and operators on single fields."""

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Any


def matches(value: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Return whether a value matches all fields of a filter.

    Raises:
        ValueError: there is no such operator.
    """
    return all(_fits(value.get(name), wanted) for name, wanted in fields.items())


def _fits(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_holds(found, operator, operand) for operator, operand in wanted.items())
        return isinstance(found, Mapping) and matches(found, wanted)
    if isinstance(wanted, list | tuple):
        alike = isinstance(found, list | tuple) and len(found) == len(wanted)
        return alike and all(map(_fits, found, wanted))
    return bool(found == wanted)


def _holds(found: Any, operator: str, operand: Any) -> bool:
    if operator in _EQUALITY:
        return _EQUALITY[operator](found, operand)
    if operator not in _ORDER:
        known = ", ".join((*_EQUALITY, *_ORDER))
        raise ValueError(f"there is no operator {operator}; there are {known}")
    compared = _comparable(found, operand)
    return compared is not None and _ORDER[operator](*compared)


def _comparable(found: Any, operand: Any) -> tuple[Any, Any] | None:
    """Return both as numbers if possible, else as texts; None if neither."""
    if isinstance(found, int | float) and isinstance(operand, int | float):
        return found, operand
    try:
        return float(found), float(operand)
    except (TypeError, ValueError):
        texts = isinstance(found, str) and isinstance(operand, str)
        return (found, operand) if texts else None


_EQUALITY: dict[str, Callable[[Any, Any], bool]] = {"$eq": eq, "$ne": ne}
_ORDER: dict[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}

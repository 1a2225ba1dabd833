"""Writes as values: stores build them, and a table runs them, alone or together.

An expression may name an attribute with `#` before it, and must if DynamoDB reserves the word, as
`#value`. The table resolves these names.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from functions.platform.items import Item
from functions.platform.keys import Key

_NAME = re.compile(r"#(\w+)")
T = TypeVar("T")
ABSENT = "attribute_not_exists(pk)"
"""The condition that there is no item."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write; `verb` is Put, Update, Delete or ConditionCheck."""

    verb: str
    key: Key
    item: Item | None = None
    expression: str | None = None
    condition: str | None = None
    values: Item = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The approximate size of an item that is put, in bytes."""
        return sum(len(name) + _get_size(value) for name, value in (self.item or {}).items())


def put(key: Key, item: Item, condition: str | None = None, **values: Any) -> Write:
    """Put `item` at `key`; `values` are the placeholders of the condition, without colons."""
    return Write("Put", key, item=item, condition=condition, values=values)


def put_new(key: Key, item: Item) -> Write:
    return put(key, item, ABSENT)


def put_version(key: Key, item: Item, seen: int | str | None, attribute: str = "version") -> Write:
    """Put `item` if `attribute` still has the value that was read; None if there was no item."""
    return put_new(key, item) if seen is None else put(key, item, f"{attribute} = :seen", seen=seen)


def update(key: Key, expression: str, condition: str | None = None, **values: Any) -> Write:
    """Update the item at `key`; create it if there is none and the condition allows it."""
    return Write("Update", key, expression=expression, condition=condition, values=values)


def build_set_expression(attributes: Item, *further: str) -> tuple[str, Item]:
    """Build the expression that sets attributes, and removes those of None, with its values.

    Args:
        further: more assignments, such as `version = version + :one`.
    """
    values = {name: value for name, value in attributes.items() if value is not None}
    settings = ", ".join((*(f"#{name} = :{name}" for name in values), *further))
    removed = ", ".join(f"#{name}" for name in attributes.keys() - values.keys())
    return f"SET {settings}" + (f" REMOVE {removed}" if removed else ""), values


def update_unchanged(
    key: Key, item: Item, expression: str, attributes: Iterable[str], values: Item
) -> Write:
    """Build an update on the condition that `attributes` are as in `item`."""
    condition, seen = build_unchanged_condition({name: item.get(name) for name in attributes})
    return update(key, expression, condition, **values, **seen)


def build_unchanged_condition(read: Item) -> tuple[str, Item]:
    """Build the condition that attributes are as they were read, with its values.

    Args:
        read: the attributes; None for an attribute that the item didn't have.
    """
    conditions = [
        f"attribute_not_exists(#{name})" if value is None else f"#{name} = :seen_{name}"
        for name, value in read.items()
    ]
    values = {f"seen_{name}": value for name, value in read.items() if value is not None}
    return " AND ".join(conditions), values


def delete(key: Key, condition: str | None = None, **values: Any) -> Write:
    return Write("Delete", key, condition=condition, values=values)


def replace_rows(before: Mapping[Key, Item], after: Mapping[Key, Item]) -> list[Write]:
    """Delete removed rows, and put new and changed ones."""
    gone = [delete(key) for key in before.keys() - after.keys()]
    return [*gone, *(put(key, row) for key, row in after.items() if before.get(key) != row)]


def check(key: Key, condition: str, **values: Any) -> Write:
    """Write nothing, but let the transaction fail unless the condition holds."""
    return Write("ConditionCheck", key, condition=condition, values=values)


def split_by_size(
    elements: Iterable[T], get_size: Callable[[T], int], most_size: int, most: int | None = None
) -> Iterator[list[T]]:
    """Split into groups of up to `most` elements, and a total size of `most_size`."""
    group, free = list[T](), most_size
    for each in elements:
        size = get_size(each)
        if group and (size > free or len(group) == most):
            yield group
            group, free = [], most_size
        group.append(each)
        free -= size
    if group:
        yield group


def _get_size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list | tuple | set | frozenset):
        return sum(map(_get_size, value)) + len(value)
    return len(value) if isinstance(value, bytes) else 16


def find_names(*expressions: str | None) -> dict[str, dict[str, str]]:
    """Return the part of a request that resolves names such as `#value` in expressions."""
    names = {name for each in expressions if each and "#" in each for name in _NAME.findall(each)}
    return {"ExpressionAttributeNames": {f"#{name}": name for name in names}} if names else {}

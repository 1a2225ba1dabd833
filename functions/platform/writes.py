"""Writes as values: rooms build them, and a table carries them out, alone or together."""

from dataclasses import dataclass, field
from typing import Any

from functions.platform.items import Item
from functions.platform.keys import Key


@dataclass(frozen=True, slots=True)
class Write:
    """One write: `verb` is Put, Update, Delete or ConditionCheck."""

    verb: str
    key: Key
    item: Item | None = None
    expression: str | None = None
    condition: str | None = None
    values: Item = field(default_factory=dict)

    @property
    def size(self) -> int:
        """About how many bytes an item that is put has."""
        return sum(len(name) + _size(value) for name, value in (self.item or {}).items())


def put(key: Key, item: Item, condition: str | None = None, **values: Any) -> Write:
    """Puts `item` at `key`; `values` are the placeholders of the condition, without colons."""
    return Write("Put", key, item=item, condition=condition, values=values)


def update(key: Key, expression: str, condition: str | None = None, **values: Any) -> Write:
    """Updates the item at `key`, making it if there is none and the condition lets it."""
    return Write("Update", key, expression=expression, condition=condition, values=values)


def delete(key: Key, condition: str | None = None, **values: Any) -> Write:
    """Deletes the item at `key`."""
    return Write("Delete", key, condition=condition, values=values)


def check(key: Key, condition: str, **values: Any) -> Write:
    """Writes nothing, but lets the transaction through only if the condition holds."""
    return Write("ConditionCheck", key, condition=condition, values=values)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list | tuple | set | frozenset):
        return sum(map(_size, value)) + len(value)
    return len(value) if isinstance(value, bytes) else 16

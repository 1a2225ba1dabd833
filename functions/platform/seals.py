"""Seals: MACs on principals, API keys and deletions.

These items reach beyond the table: they admit callers, and they make the service destroy data. So
the service ignores one that it did not write itself. A seal covers the item's key and the
attributes that the registry of item types names. Only the operator can write any other item.
"""

import hmac
from collections.abc import Callable
from typing import Any

from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.json_text import dumps
from functions.platform.keys import Key
from functions.platform.observability import logger, report_count

_PURPOSE = b"agent-memory: seals of items"
_SEAL = "seal"
_SEAL_BYTES = 16  # of the digest's 32


class ItemSeals:
    """Makes and verifies seals.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def prepare(self) -> None:
        """Derive the key while the function starts, before a request needs it."""
        self._derive_key(_PURPOSE)

    def seal(self, item_type: ItemType, key: Key, item: Item) -> Item:
        """Return an item of a sealed type with its seal."""
        return item | {_SEAL: self._compute(item_type, key, item)}

    def is_genuine(self, item_type: ItemType, key: Key, item: Item) -> bool:
        """Return whether the service wrote an item; log and count an item with a wrong seal."""
        seal = item.get(_SEAL)
        made = self._compute(item_type, key, item)
        if isinstance(seal, bytes) and hmac.compare_digest(made, seal):
            return True
        logger.error(
            "ignored an item with a wrong seal",
            extra={"item_type": item_type.name, "item_key": " ".join(key)},
        )
        report_count("WrongSeals")
        return False

    def _compute(self, item_type: ItemType, key: Key, item: Item) -> bytes:
        statement = [*key, *(_normalize(item.get(name)) for name in item_type.sealed)]
        return hmac.digest(self._derive_key(_PURPOSE), dumps(statement), "sha256")[:_SEAL_BYTES]


def _normalize(value: Any) -> Any:
    """Put the elements of maps and sets, which have no order, into one."""
    if isinstance(value, dict):
        return [[name, _normalize(value[name])] for name in sorted(value)]
    return sorted(value) if isinstance(value, set | frozenset) else value

"""Seals: codes by which the service knows items of authority that it wrote itself.

Whoever writes to the table past the service can't make one. So an item of its making counts as
absent, and so does one that it changed (contract §1). Which attributes of which types a seal covers
is in the registry of item types.
"""

import hmac
from collections.abc import Callable
from typing import Any

from functions.platform.item_types import find_sealed_type
from functions.platform.items import Item
from functions.platform.json_text import dumps
from functions.platform.keys import Key
from functions.platform.observability import logger

_PURPOSE = b"agent-memory: seals of items"
_SEAL = "seal"


class ItemSeals:
    """Makes and verifies seals.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def prepare(self) -> None:
        """Derive the key now, so that no request has to.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        self._derive_key(_PURPOSE)

    def seal(self, key: Key, item: Item) -> Item:
        """Return an item with its seal; as it is, if it is of a type without one.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        sealed = find_sealed_type(key)
        return item if sealed is None else item | {_SEAL: self._compute(key, item, sealed.sealed)}

    def is_genuine(self, item: Item) -> bool:
        """Tell whether an item that was read is as the service wrote it; log it, if it isn't."""
        key = (item["pk"], item["sk"])
        sealed = find_sealed_type(key)
        if sealed is None:
            return True
        seal = item.get(_SEAL)
        made = self._compute(key, item, sealed.sealed)
        if isinstance(seal, bytes) and hmac.compare_digest(made, seal):
            return True
        logger.error("an item without a valid seal", extra={"item_type": sealed.name})
        return False

    def _compute(self, key: Key, item: Item, names: tuple[str, ...]) -> bytes:
        statement = [*key, *(_normalize(item.get(name)) for name in names)]
        return hmac.digest(self._derive_key(_PURPOSE), dumps(statement), "sha256")


def _normalize(value: Any) -> Any:
    """Put what has no order into one."""
    if isinstance(value, dict):
        return [[name, _normalize(value[name])] for name in sorted(value)]
    return sorted(value) if isinstance(value, set | frozenset) else value

"""Codes by which the service knows authority that it gave itself: seals of items, codes of roles.

Nobody who writes to the table past the service can make one. So an item of its making counts as
absent, and so does one that it changed. Which attributes of which types a seal covers
is in the registry of item types; what changes beside them, such as a counter, needs no new seal.

A seal is verified when an item is read. A write that has a role as its condition, and reads
nothing, compares the role's code, which only the service can compute.
"""

import hmac
from collections.abc import Callable
from typing import Any, NamedTuple

from functions.platform.errors import Unavailable
from functions.platform.item_types import ItemType, find_sealed_type
from functions.platform.items import Item
from functions.platform.json_text import dumps
from functions.platform.keys import Key
from functions.platform.observability import logger

_PURPOSE = b"agent-memory: seals of items"
_ROLES = b"agent-memory: codes of roles"
_SEAL = "seal"
_CODE_BYTES = 16  # of 32: 128 bits that nobody can guess


class RoleCode(NamedTuple):
    """Stands for the code of a role in a write's item, expression or condition.

    Attributes:
        role: what the principal is in what the write's item is about.
        principal: its id; empty for what is said of the item itself.
    """

    role: str
    principal: str = ""


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
        """Return an item with its seal; as it is, if it needs none.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        sealed = find_sealed_type(key)
        if sealed is None or not _needs_seal(item, sealed):
            return item
        return item | {_SEAL: self._compute(key, item, sealed)}

    def compute(self, key: Key, item: Item) -> bytes:
        """Compute the seal of an item that has these attributes under it.

        Raises:
            ValueError: the item is of a type without a seal.
            Unavailable: the deployment's secret can't be read.
        """
        sealed = find_sealed_type(key)
        if sealed is None:
            raise ValueError(f"no seal covers {key[1]}")
        return self._compute(key, item, sealed)

    def is_genuine(self, item: Item) -> bool:
        """Tell whether an item that was read is as the service wrote it; log it, if it isn't.

        Raises:
            Unavailable: it isn't, and it is of a type that restricts.
        """
        key = (item["pk"], item["sk"])
        sealed = find_sealed_type(key)
        if sealed is None or not _needs_seal(item, sealed):
            return True
        seal = item.get(_SEAL)
        made = self._compute(key, item, sealed)
        if isinstance(seal, bytes) and hmac.compare_digest(made, seal):
            return True
        where = {"item_type": sealed.name, "item_key": " ".join(key)}
        logger.error("an item without a valid seal", extra=where)
        if sealed.is_restriction:
            raise Unavailable("what restricts this isn't this service's own; its operator is told")
        return False

    def resolve_codes(self, key: Key, value: Any) -> Any:
        """Return a value with the codes in the place of roles in the item at `key`.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        if isinstance(value, RoleCode):
            return self._digest(_ROLES, [*key, *value])
        if isinstance(value, list):
            return [self.resolve_codes(key, each) for each in value]
        return value

    def _compute(self, key: Key, item: Item, sealed: ItemType) -> bytes:
        statement = [*key, *(_normalize(item.get(name)) for name in sealed.sealed)]
        return self._digest(_PURPOSE, statement)

    def _digest(self, purpose: bytes, statement: list[Any]) -> bytes:
        return hmac.digest(self._derive_key(purpose), dumps(statement), "sha256")[:_CODE_BYTES]


def _needs_seal(item: Item, sealed: ItemType) -> bool:
    """Tell whether an item needs a seal; some types have items with nothing under it."""
    return not sealed.may_give_nothing or any(map(item.get, sealed.sealed))


def _normalize(value: Any) -> Any:
    """Put what has no order into one."""
    if isinstance(value, dict):
        return [[name, _normalize(value[name])] for name in sorted(value)]
    return sorted(value) if isinstance(value, set | frozenset) else value

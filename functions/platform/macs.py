"""Message authentication codes under keys of the deployment: seals of items, and signed texts.

Each kind has a key that is derived from the deployment's secret for its purpose.

- Seals are MACs on principals, API keys and deletions. These items have effects beyond the table:
  they admit callers, and they make the service delete data. So the service ignores such an item if
  it did not write it. A seal covers the item's key and the attributes that the registry of item
  types names. Only the operator can write any other item.
- Signed texts, such as cursors, are texts that only this service makes.
"""

import base64
import binascii
import hmac
from collections.abc import Callable
from typing import Any

from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.json_text import dumps
from functions.platform.keys import Key
from functions.platform.observability import logger, report_count

_SEALS = b"agent-memory: seals of items"
_SEAL = "seal"
_MAC_BYTES = 16  # of the 32 of SHA-256

DeriveKey = Callable[[bytes], bytes]
"""Derives the key of a purpose from the deployment's secret."""


class ItemSeals:
    """Makes and verifies seals."""

    def __init__(self, derive_key: DeriveKey) -> None:
        self._derive_key = derive_key

    def prepare(self) -> None:
        """Derive the key while the function starts, before a request needs it."""
        self._derive_key(_SEALS)

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
        return hmac.digest(self._derive_key(_SEALS), dumps(statement), "sha256")[:_MAC_BYTES]


def _normalize(value: Any) -> Any:
    """Sort the elements of maps and sets, which have no order."""
    if isinstance(value, dict):
        return [[name, _normalize(value[name])] for name in sorted(value)]
    return sorted(value) if isinstance(value, set | frozenset) else value


class SignedTexts:
    """Signs texts of one purpose, and verifies them.

    Args:
        purpose: signatures of another purpose aren't valid.
    """

    def __init__(self, derive_key: DeriveKey, purpose: bytes) -> None:
        self._derive_key = derive_key
        self._purpose = purpose

    def sign(self, text: bytes, context: bytes = b"") -> str:
        """Sign a text, in characters of URLs; the signature is valid only in the same context."""
        return _encode(self._compute_mac(text, context) + text)

    def verify(self, signed: str, context: bytes = b"") -> bytes | None:
        """Return the signed text; None if the signature is wrong or of another context."""
        try:
            decoded = base64.b64decode(signed + "=" * (-len(signed) % 4), b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, text = decoded[:_MAC_BYTES], decoded[_MAC_BYTES:]
        if _encode(decoded) != signed:  # the last character has unused bits
            return None
        return text if hmac.compare_digest(mac, self._compute_mac(text, context)) else None

    def _compute_mac(self, text: bytes, context: bytes) -> bytes:
        message = len(context).to_bytes(4) + context + text
        return hmac.digest(self._derive_key(self._purpose), message, "sha256")[:_MAC_BYTES]


def _encode(signed: bytes) -> str:
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")

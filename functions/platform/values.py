"""Encode values as attributes: JSON text, encrypted by AES-GCM if sensitive.

Specification: RFC-0015 §9.2.
"""

from collections.abc import Callable

from functions.platform.encryption import Cipher
from functions.platform.errors import UnreadableValue
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress
from functions.platform.observability import report_count
from functions.platform.sensitivity import ENCRYPTED, Sensitivity

UNREADABLE = b'{"unreadable":true}'
"""The text that lists show in place of a damaged or moved text."""


def read_text(item: Item, decode: Callable[[], bytes], otherwise: bytes = UNREADABLE) -> bytes:
    """Decode a text of an item; if it was damaged or moved, report it and return a placeholder."""
    try:
        return decode()
    except UnreadableValue:
        # An archived item has no key; its index identifies the message.
        key = (item["pk"], item["sk"]) if "pk" in item else item.get("index")
        report_count("UnreadableValues", key=key)
        return otherwise


class ValueCodec:
    """Encode JSON text as attributes, and decode it. Without a cipher nothing is decrypted."""

    def __init__(self, cipher: Cipher | None) -> None:
        self._cipher = cipher

    def encode(
        self, text: bytes, sensitivity: Sensitivity | None, tenant: str, name: str, version: int
    ) -> Item:
        """Encode a value as attributes, encrypted if it is sensitive."""
        if sensitivity in ENCRYPTED:
            return self.encrypt(text, tenant, name, version)
        return {"value": compress(text)}

    def encrypt(self, text: bytes, tenant: str, name: str, version: int) -> Item:
        """Encrypt a sensitive value, bound to tenant, name, and version, into attributes."""
        if self._cipher is None:
            raise ValueError("a sensitive value can't be written without a cipher")
        ciphertext, wrapped = self._cipher.encrypt(text, tenant, name, version)
        return {"value": ciphertext, "data_key": wrapped}

    def decode(self, item: Item, tenant: str, name: str, version: int) -> bytes:
        """Decode the text of an item's value; empty if it is encrypted and there is no cipher.

        Args:
            name, version: the encryption context, from the item's key and place. Attributes beside
                the value can't give it: they would be copied together with the value.
        """
        if "data_key" not in item:
            return decompress(item["value"])
        if self._cipher is None:
            return b""
        return self._cipher.decrypt(item["value"], item["data_key"], tenant, name, version)

"""Encode values as attributes: JSON text, AES-GCM where it is sensitive.

Specification: RFC-0015 §9.2.
"""

from functions.platform.encryption import Cipher
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress
from functions.platform.sensitivity import ENCRYPTED, Sensitivity


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
        """Encrypt a sensitive value, bound to the tenant, an id and a version, into attributes."""
        if self._cipher is None:
            raise ValueError("a sensitive value can't be written without a cipher")
        ciphertext, wrapped = self._cipher.encrypt(text, tenant, name, version)
        return {"value": ciphertext, "data_key": wrapped, "encrypted_version": version}

    def decode(self, item: Item, tenant: str, name: str) -> bytes:
        """Decode the text of an item's value; empty if it is encrypted and there is no cipher."""
        if "data_key" not in item:
            return decompress(item["value"])
        if self._cipher is None:
            return b""
        return self._cipher.decrypt(
            item["value"], item["data_key"], tenant, name, item["encrypted_version"]
        )

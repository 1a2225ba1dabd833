"""Encode values as attributes: text, zlib where that is smaller, AES-GCM where it is sensitive.

Specification: RFC-0015 §9.2.
"""

import zlib

from functions.platform.encryption import Cipher
from functions.platform.items import Item
from functions.platform.sensitivity import ENCRYPTED, Sensitivity

_COMPRESS_FROM = 1024  # bytes; below, a value fits its write unit anyway


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
        return {"val": compress(text)}

    def encrypt(self, text: bytes, tenant: str, name: str, version: int) -> Item:
        """Encrypt a sensitive value, bound to the tenant, an id and a version, into attributes.

        Raises:
            ValueError: there is no cipher.
        """
        if self._cipher is None:
            raise ValueError("a sensitive value can't be written without a cipher")
        ciphertext, wrapped = self._cipher.encrypt(text, tenant, name, version)
        return {"val": ciphertext, "data_key": wrapped, "encrypted_version": version}

    def decode(self, item: Item, tenant: str, name: str) -> bytes:
        """Decode the text of an item's value; empty if it is encrypted and there is no cipher."""
        if "data_key" not in item:
            return decompress(item["val"])
        if self._cipher is None:
            return b""
        return self._cipher.decrypt(
            item["val"], item["data_key"], tenant, name, item["encrypted_version"]
        )


def compress(text: bytes, compress_from: int = _COMPRESS_FROM) -> str | bytes:
    """Compress a text of more than `compress_from` bytes, if that makes it smaller."""
    if len(text) > compress_from:
        compressed = zlib.compress(text)
        if len(compressed) < len(text):
            return compressed
    return text.decode()


def decompress(stored: str | bytes) -> bytes:
    """Get the text that `compress` was given."""
    return stored.encode() if isinstance(stored, str) else zlib.decompress(stored)

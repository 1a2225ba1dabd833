"""How a value is stored: one attribute of text, or zlib bytes where that is smaller, or AES-GCM
bytes where it is sensitive (RFC-0015 §9.2)."""

import zlib

from functions.platform.encryption import Cipher
from functions.platform.items import Item

_COMPRESS_FROM = 1024  # bytes; below, a value fits its write unit anyway


class Values:
    """Turns JSON text into attributes and back. Without a cipher, sealed values stay closed."""

    def __init__(self, cipher: Cipher | None) -> None:
        self._cipher = cipher

    def sealed(self, text: bytes, tenant: str, name: str, version: int) -> Item:
        """The attributes of a sensitive value, bound to the tenant, an id and a version.

        Raises:
            ValueError: there is no cipher.
        """
        if self._cipher is None:
            raise ValueError("a sensitive value can't be written without a cipher")
        sealed, wrapped = self._cipher.seal(text, tenant, name, version)
        return {"val": sealed, "data_key": wrapped, "sealed_at": version}

    def opened(self, item: Item, tenant: str, name: str) -> bytes:
        """The text of an item's value; nothing, where it is sealed and there is no cipher."""
        if "data_key" not in item:
            return unpack(item["val"])
        if self._cipher is None:
            return b""
        return self._cipher.open(item["val"], item["data_key"], tenant, name, item["sealed_at"])


def pack(text: bytes, compress_from: int = _COMPRESS_FROM) -> str | bytes:
    """A value that needs no encryption, as it is stored; tried smaller above so many bytes."""
    if len(text) > compress_from:
        packed = zlib.compress(text)
        if len(packed) < len(text):
            return packed
    return text.decode()


def unpack(stored: str | bytes) -> bytes:
    """The text that was packed."""
    return stored.encode() if isinstance(stored, str) else zlib.decompress(stored)

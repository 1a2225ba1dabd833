"""Signed texts, which only this service makes, such as cursors."""

import base64
import binascii
import hmac
from collections.abc import Callable

_MAC_BYTES = 16


class SignedTexts:
    """Signs texts of one purpose, and verifies them.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
        purpose: another one's signatures aren't valid here.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes], purpose: bytes) -> None:
        self._derive_key = derive_key
        self._purpose = purpose

    def sign(self, text: bytes, context: bytes = b"") -> str:
        """Sign a text, in characters of URLs; it is valid in the same context only."""
        return _encode(self._compute_mac(text, context) + text)

    def verify(self, signed: str, context: bytes = b"") -> bytes | None:
        """Return the text that was signed; None if it wasn't, or in another context."""
        try:
            decoded = base64.b64decode(signed + "=" * (-len(signed) % 4), b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, text = decoded[:_MAC_BYTES], decoded[_MAC_BYTES:]
        if _encode(decoded) != signed:  # the last character has bits that stand for nothing
            return None
        return text if hmac.compare_digest(mac, self._compute_mac(text, context)) else None

    def _compute_mac(self, text: bytes, context: bytes) -> bytes:
        message = len(context).to_bytes(4) + context + text
        return hmac.digest(self._derive_key(self._purpose), message, "sha256")[:_MAC_BYTES]


def _encode(signed: bytes) -> str:
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")

"""Cursors: where the next page of a list begins, signed so that only this service makes them."""

import base64
import binascii
import hmac
from bisect import bisect_left
from collections.abc import Callable, Sequence

_PURPOSE = b"agent-memory: cursors of lists"
_MAC_BYTES = 16


class Cursors:
    """Signs and verifies cursors, each for one list.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def sign(self, list_name: bytes, position: str) -> str:
        """Make the cursor of a position in a list; only the list of this `list_name` takes it."""
        text = position.encode()
        return _encode(self._compute_mac(list_name, text) + text)

    def verify(self, list_name: bytes, cursor: str) -> str | None:
        """Return the position of a cursor; None if it wasn't made for this list."""
        try:
            decoded = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, text = decoded[:_MAC_BYTES], decoded[_MAC_BYTES:]
        if _encode(decoded) != cursor:  # the last character has bits that stand for nothing
            return None
        if not hmac.compare_digest(mac, self._compute_mac(list_name, text)):
            return None
        return text.decode()

    def _compute_mac(self, list_name: bytes, position: bytes) -> bytes:
        message = len(list_name).to_bytes(4) + list_name + position
        return hmac.digest(self._derive_key(_PURPOSE), message, "sha256")[:_MAC_BYTES]


def _encode(signed: bytes) -> str:
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


def find_start(positions: Sequence[str], after: str) -> int:
    """Return the index of the first position after one, in a list whose positions descend."""
    return bisect_left(positions, x=True, key=lambda position: position < after)

"""Addresses of files that serve one request for some minutes, on a laptop.

In the cloud, S3 signs and checks such addresses. Here an address holds what it permits, and a
message authentication code of that under a key of the deployment.
"""

import base64
import binascii
import hmac
from collections.abc import Callable
from typing import Literal, NamedTuple

import orjson

from functions.platform.clock import Clock

FILES_PATH = "/files/"
_PURPOSE = b"agent-memory: addresses of files"
_MAC_BYTES = 16


class FileGrant(NamedTuple):
    """What an address permits.

    Attributes:
        name: of the file.
        expires: epoch ms.
        size: how many bytes a PUT sends.
        content_type: with which a GET is answered.
        is_sensitive: whether a PUT is stored encrypted.
    """

    method: Literal["GET", "PUT"]
    name: str
    expires: int
    size: int = 0
    content_type: str = ""
    is_sensitive: bool = False


class FileAddresses:
    """Signs addresses, and verifies them.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes], clock: Clock) -> None:
        self._derive_key = derive_key
        self._clock = clock

    def sign(self, grant: FileGrant) -> str:
        """Make the path of an address."""
        text = orjson.dumps(tuple(grant))
        token = base64.urlsafe_b64encode(self._compute_mac(text) + text).decode().rstrip("=")
        return FILES_PATH + token

    def verify(self, method: str, path: str) -> FileGrant | None:
        """Return what a path permits; None if it wasn't signed, has expired, or permits another."""
        token = path.removeprefix(FILES_PATH)
        try:
            decoded = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, text = decoded[:_MAC_BYTES], decoded[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._compute_mac(text)):
            return None
        grant = FileGrant(*orjson.loads(text))
        return grant if grant.method == method and grant.expires > self._clock() else None

    def _compute_mac(self, text: bytes) -> bytes:
        return hmac.digest(self._derive_key(_PURPOSE), text, "sha256")[:_MAC_BYTES]

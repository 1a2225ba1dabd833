"""Addresses of files that serve one request for some minutes, on a laptop.

In the cloud, S3 signs and checks such addresses. Here an address holds what it permits, and a
message authentication code of that under a key of the deployment.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import orjson

from functions.platform.clock import Clock
from functions.platform.macs import SignedTexts

FILES_PATH = "/files/"
_PURPOSE = b"agent-memory: addresses of files"


class FileGrant(NamedTuple):
    """Tells what an address permits.

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
        self._signed = SignedTexts(derive_key, _PURPOSE)
        self._clock = clock

    def sign(self, grant: FileGrant) -> str:
        """Make the path of an address."""
        return FILES_PATH + self._signed.sign(orjson.dumps(tuple(grant)))

    def verify(self, method: str, path: str) -> FileGrant | None:
        """Return what a path permits; None if it wasn't signed, has expired, or permits another."""
        text = self._signed.verify(path.removeprefix(FILES_PATH))
        if text is None:
            return None
        grant = FileGrant(*orjson.loads(text))
        return grant if grant.method == method and grant.expires > self._clock() else None

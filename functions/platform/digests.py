"""Digest what requests say, so that a retry is recognized and a guess cannot be tested.

A digest under a key that only the service knows says nothing to a reader of the tables, not even
of a value that has few possibilities.
"""

from collections.abc import Callable
from hashlib import blake2b

_PURPOSE = b"agent-memory: digests of requests"


class Digests:
    """Digests under a key of the deployment.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def compute(self, kind: str, content: bytes, size: int) -> bytes:
        """Compute a digest of `size` bytes; each kind of content has others.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        key = self._derive_key(_PURPOSE)
        return blake2b(content, digest_size=size, key=key, person=kind.encode()).digest()

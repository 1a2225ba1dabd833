"""Digest what requests say, so that a later one can be compared and nobody can test a guess.

A digest under a key that only the service knows says nothing to who reads the tables, not even of a
value that has few possibilities.
"""

import hmac
from collections.abc import Callable
from functools import cached_property
from hashlib import blake2b

_PURPOSE = b"agent-memory: digests of requests"


class Digests:
    """Digests under a key of the deployment.

    Args:
        read_root_key: gives the operator's key, from which this one is derived. After a change of
            the root key no earlier digest is recognized.
    """

    def __init__(self, read_root_key: Callable[[], str]) -> None:
        self._read_root_key = read_root_key

    @cached_property
    def _key(self) -> bytes:
        return hmac.digest(self._read_root_key().encode(), _PURPOSE, "sha256")

    def compute(self, kind: str, content: bytes, size: int) -> bytes:
        """Compute a digest of `size` bytes; each kind of content has others.

        Raises:
            Unavailable: the root key can't be read.
        """
        return blake2b(content, digest_size=size, key=self._key, person=kind.encode()).digest()

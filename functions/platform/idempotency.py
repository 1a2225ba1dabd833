"""Recognize a retried request by the tokens of earlier requests that its item stores.

A token consists of two digests under a key of the deployment, so a reader of the tables can't test
a guess of a request body: one of the Idempotency-Key, and one of the request body.
"""

import secrets
from collections.abc import Callable
from enum import Enum
from hashlib import blake2b
from typing import NamedTuple, Self

from functions.platform.errors import IdempotencyConflict

_PURPOSE = b"agent-memory: digests of requests"
KEY_BYTES, _BODY_BYTES = 16, 8  # of a stored token, in this order
_TOKEN_BYTES = KEY_BYTES + _BODY_BYTES
_MAX_TOKENS = 9  # of an item's history
RequestHistory = bytes
"""The tokens of the latest requests that wrote an item, newest first; stored as `requests`.

With tokens of 24 bytes, `history[:24]` wrote the present version and `history[24:48]` the one
before.
"""


class Digests:
    """Computes digests under a key of the deployment.

    Args:
        derive_key: derives the key of a purpose from the deployment's secret.
    """

    def __init__(self, derive_key: Callable[[bytes], bytes]) -> None:
        self._derive_key = derive_key

    def compute(self, kind: str, content: bytes, size: int) -> bytes:
        """Compute a digest of `size` bytes, which differs by kind of content."""
        key = self._derive_key(_PURPOSE)
        return blake2b(content, digest_size=size, key=key, person=kind.encode()).digest()


class Verdict(Enum):
    """The verdict of an item's history on a request."""

    NEW = "the request has not written the item"
    REPLAY = "the request wrote the present version"
    SUPERSEDED = "the request wrote an earlier version"


class RequestToken(NamedTuple):
    """Identifies a request: digests of its Idempotency-Key and of its body."""

    key: bytes
    body: bytes

    @classmethod
    def from_key(cls, digests: Digests, caller: str, idempotency_key: str, request: bytes) -> Self:
        """Derive the token of a request with an Idempotency-Key, which is the same for retries."""
        named = f"{len(caller)}:{caller}{idempotency_key}".encode()
        return cls(
            digests.compute("idempotency key", named, KEY_BYTES),
            digests.compute("request body", request, _BODY_BYTES),
        )

    @classmethod
    def from_event(cls, source: str, event_id: str) -> Self:
        """Derive the token of another system's event, which is the same for each delivery."""
        named = f"{len(source)}:{source}{event_id}".encode()
        return cls(blake2b(named, digest_size=KEY_BYTES).digest(), bytes(_BODY_BYTES))

    @classmethod
    def create(cls) -> Self:
        """Create the token of a request without an Idempotency-Key."""
        return cls(secrets.token_bytes(KEY_BYTES), bytes(_BODY_BYTES))

    @property
    def stored(self) -> bytes:
        """The token as the item stores it."""
        return self.key + self.body

    def judge(self, history: RequestHistory | None) -> Verdict:
        """Judge whether this request has written an item with this history."""
        tokens = _split(history or b"")
        if tokens and self.matches(tokens[0]):
            return Verdict.REPLAY
        is_known = any(each[:KEY_BYTES] == self.key for each in tokens[1:])
        return Verdict.SUPERSEDED if is_known else Verdict.NEW

    def add_to(self, history: RequestHistory | None) -> RequestHistory:
        """Return the history with this request as the latest."""
        return b"".join((self.stored, *_split(history or b"")))[: _MAX_TOKENS * _TOKEN_BYTES]

    def matches(self, stored: bytes | None) -> bool:
        """Return whether this request has the token `stored`."""
        if stored is None or stored[:KEY_BYTES] != self.key:
            return False
        if stored[KEY_BYTES:] != self.body:
            raise build_idempotency_conflict()
        return True


def build_idempotency_conflict() -> IdempotencyConflict:
    """Build the error of an Idempotency-Key that was used with another body."""
    return IdempotencyConflict("this Idempotency-Key was used with another request body")


def _split(history: RequestHistory) -> list[bytes]:
    starts = range(0, len(history), _TOKEN_BYTES)
    return [history[start : start + _TOKEN_BYTES] for start in starts]

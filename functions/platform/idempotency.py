"""Recognize a retried request by a token on the item that it wrote (contract §3).

The token answers two questions when a condition fails: did this very request write the present
item, and its response was lost; and was the same Idempotency-Key used with another body.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from functions.platform.errors import IdempotencyConflict

_KEY_BYTES, _BODY_BYTES = 16, 8
_MAX_PREVIOUS = 8  # tokens, for writes that a late retry would otherwise repeat


@dataclass(frozen=True, slots=True)
class RequestToken:
    """`key` identifies the request; `body` is a hash of what it asked for."""

    key: bytes
    body: bytes

    @classmethod
    def from_key(cls, caller: str, idempotency_key: str, request: bytes) -> Self:
        """Derive the token of a request with an Idempotency-Key; the same for each retry."""
        hashed = blake2b(idempotency_key.encode(), digest_size=_KEY_BYTES, key=_hash(caller))
        return cls(hashed.digest(), blake2b(request, digest_size=_BODY_BYTES).digest())

    @classmethod
    def create(cls) -> Self:
        """Create the token of a request without an Idempotency-Key."""
        return cls(secrets.token_bytes(_KEY_BYTES), bytes(_BODY_BYTES))

    @property
    def stored(self) -> bytes:
        """The token as the item stores it."""
        return self.key + self.body

    def is_superseded(self, previous: Iterable[bytes]) -> bool:
        """Tell whether this request was carried out, and another one since."""
        return any(stored[:_KEY_BYTES] == self.key for stored in previous)

    def matches(self, stored: bytes | None) -> bool:
        """Tell whether this very request was the last to write an item with the token `stored`.

        Raises:
            IdempotencyConflict: the key is the same, but the body was another.
        """
        if stored is None or stored[:_KEY_BYTES] != self.key:
            return False
        if stored[_KEY_BYTES:] != self.body:
            raise IdempotencyConflict("this Idempotency-Key was used with another request body")
        return True


def list_previous_tokens(last: bytes | None, earlier: Iterable[bytes]) -> tuple[bytes, ...]:
    """List the tokens that an item stores of the requests before its next one, newest first."""
    return tuple(([] if last is None else [last]) + list(earlier))[:_MAX_PREVIOUS]


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=32).digest()

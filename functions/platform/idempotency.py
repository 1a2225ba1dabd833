"""Recognize a retried request by a token on the item that it wrote.

The token answers two questions when a condition fails: did this very request write the present
item, and its response was lost; and was the same Idempotency-Key used with another body. Both its
parts are digests under a key of the deployment: who reads the tables can't test a guess of a body.
"""

import secrets
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple, Self

from functions.platform.digests import Digests
from functions.platform.errors import IdempotencyConflict

KEY_BYTES, _BODY_BYTES = 16, 8  # of a stored token, in this order
_MAX_PREVIOUS = 8  # tokens, for writes that a late retry would otherwise repeat


class RequestToken(NamedTuple):
    """`key` identifies the request; `body` is a hash of what it asked for."""

    key: bytes
    body: bytes

    @classmethod
    def from_key(cls, digests: Digests, caller: str, idempotency_key: str, request: bytes) -> Self:
        """Derive the token of a request with an Idempotency-Key; the same for each retry.

        Raises:
            Unavailable: the deployment's secret can't be read.
        """
        named = f"{len(caller)}:{caller}{idempotency_key}".encode()
        return cls(
            digests.compute("idempotency key", named, KEY_BYTES),
            digests.compute("request body", request, _BODY_BYTES),
        )

    @classmethod
    def from_event(cls, source: str, event_id: str) -> Self:
        """Derive the token of an event of another system; the same however often it comes."""
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

    def is_superseded(self, previous: Iterable[bytes]) -> bool:
        """Tell whether this request was carried out, and another one since."""
        return any(stored[:KEY_BYTES] == self.key for stored in previous)

    def matches(self, stored: bytes | None) -> bool:
        """Tell whether this very request was the last to write an item with the token `stored`.

        Raises:
            IdempotencyConflict: the key is the same, but the body was another.
        """
        if stored is None or stored[:KEY_BYTES] != self.key:
            return False
        if stored[KEY_BYTES:] != self.body:
            raise build_idempotency_conflict()
        return True


def build_idempotency_conflict() -> IdempotencyConflict:
    """Build the error of an Idempotency-Key that came with another body before."""
    return IdempotencyConflict("this Idempotency-Key was used with another request body")


def list_previous_tokens(last: bytes | None, earlier: Iterable[bytes]) -> tuple[bytes, ...]:
    """List the tokens that an item stores of the requests before its next one, newest first."""
    return tuple(([] if last is None else [last]) + list(earlier))[:_MAX_PREVIOUS]

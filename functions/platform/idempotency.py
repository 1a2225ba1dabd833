"""How a write knows itself again: a token kept on the item that it wrote (contract §3).

The token answers two questions when a condition fails: is what stands there my own write, retried
after its answer was lost; and did the same Idempotency-Key come with another body.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from functions.platform.errors import IdempotencyConflict

_KEY_BYTES, _BODY_BYTES = 16, 8
_SPENT = 8  # for writes without a version of their own, which a late retry would repeat


@dataclass(frozen=True, slots=True)
class RequestToken:
    """`key` names the request; `body` is a digest of what it asked for."""

    key: bytes
    body: bytes

    @classmethod
    def of(cls, caller: str, idempotency_key: str, request: bytes) -> Self:
        """The token of a request that carries an Idempotency-Key; the same for each retry."""
        named = blake2b(idempotency_key.encode(), digest_size=_KEY_BYTES, key=_short(caller))
        return cls(named.digest(), blake2b(request, digest_size=_BODY_BYTES).digest())

    @classmethod
    def fresh(cls) -> Self:
        """The token of a request without an Idempotency-Key."""
        return cls(secrets.token_bytes(_KEY_BYTES), bytes(_BODY_BYTES))

    @property
    def stored(self) -> bytes:
        """What is kept on the item."""
        return self.key + self.body

    def overtaken(self, spent: Iterable[bytes]) -> bool:
        """Whether this request was carried out before the one that an item stands at now."""
        return any(stored[:_KEY_BYTES] == self.key for stored in spent)

    def wrote(self, stored: bytes | None) -> bool:
        """Whether an item that carries `stored` is as this very request left it.

        Raises:
            IdempotencyConflict: the key is the same, but the request was another.
        """
        if stored is None or stored[:_KEY_BYTES] != self.key:
            return False
        if stored[_KEY_BYTES:] != self.body:
            raise IdempotencyConflict("this Idempotency-Key was used with another request body")
        return True


def spent(last: bytes | None, earlier: Iterable[bytes]) -> tuple[bytes, ...]:
    """What an item remembers of the requests before its next one, the newest first."""
    return tuple(([] if last is None else [last]) + list(earlier))[:_SPENT]


def _short(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=32).digest()
